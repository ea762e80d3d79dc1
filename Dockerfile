# The image of keyhealth: one static binary and the CA certificates, nothing else.
#
#   docker build --build-arg VERSION=1.2.3 --build-arg REVISION=0a1b2c3 -t keyhealth:1.2.3 .
#   docker buildx build --platform linux/amd64,linux/arm64 -t keyhealth:1.2.3 .
#
# internal/imagetest builds it and looks inside. VERSION, REVISION and the flags
# are those of the Makefile; keyhealth demo is left out with what it needs.

ARG VERSION=0.1.0-dev
ARG REVISION=unknown

# Runs on the builder's own platform and compiles for the target's: nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src

# The modules have a layer of their own, which lasts until one of them changes.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION
ARG REVISION
# Small rather than fast: without inlining and HTTP/2 (scrapes over TLS use HTTP/1.1) the binary is a fifth smaller, and a sweep
# takes a fifth more of the exporter's own CPU.
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -tags nodemo,nethttpomithttp2 -gcflags=all=-l \
	-ldflags "-s -w -X github.com/prometheus/common/version.Version=$VERSION -X github.com/prometheus/common/version.Revision=$REVISION" \
	-o /keyhealth ./cmd/exporter

FROM scratch
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="keyhealth" \
	org.opencontainers.image.description="A Prometheus exporter that finds Redis keys without TTL" \
	org.opencontainers.image.licenses="Apache-2.0" \
	org.opencontainers.image.version="$VERSION" \
	org.opencontainers.image.revision="$REVISION"

# Where Go looks for the authorities that vouch for a rediss:// server.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /keyhealth /keyhealth

# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 10121
ENTRYPOINT ["/keyhealth"]
