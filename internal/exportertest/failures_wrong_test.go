// The cases of failures_test.go in which what was configured is not what is there.

package exportertest

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"keyhealth/internal/redistest"
)

var wrongFailures = []failure{
	{name: "http_server", begin: func(s *stage) {
		server := httptest.NewServer(http.NotFoundHandler())
		s.Cleanup(server.Close)
		s.settings["REDIS_URL"] = "redis://" + server.Listener.Addr().String()
	}, acts: []act{{name: "a web server answers there", ends: fails}}},
	{name: "tls_to_a_plain_port", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = strings.Replace(s.proxy.URL(), "redis:", "rediss:", 1)
		s.settings["REDIS_TIMEOUT"] = "1s" // the server waits for the end of a line
	}, acts: []act{{name: "rediss:// where no TLS is spoken", ends: fails}}},
	{name: "plain_to_a_tls_port", begin: func(s *stage) {
		secureShop(s, "127.0.0.1")
		s.settings["REDIS_URL"] = strings.Replace(s.settings["REDIS_URL"], "rediss:", "redis:", 1)
	}, acts: []act{{name: "redis:// where TLS is spoken", ends: fails}}},
	{name: "tls_unknown_authority", begin: func(s *stage) { secureShop(s, "127.0.0.1") },
		acts: []act{{name: "the CA is not known", ends: fails}}},
	{name: "tls_wrong_name", begin: func(s *stage) {
		secureShop(s, "127.0.0.2")
		s.settings["REDIS_TLS_CA_FILE"] = s.file
	}, acts: []act{{name: "the certificate is another host's", ends: fails}}},
	{name: "sentinel_unknown_set", begin: func(s *stage) {
		shop()(s)
		sentinel := redistest.StartSentinel(s.T, s.server, 0)
		s.settings["REDIS_URL"] = "redis+sentinel://" + sentinel.Addr() + "/shopp"
	}, acts: []act{{name: "the Sentinel watches no set of that name", ends: fails}}},
	{name: "sentinel_as_server", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = redistest.StartSentinel(s.T, s.server, 0).URL()
	}, acts: []act{{name: "redis:// to a Sentinel", ends: fails}}},
	{name: "server_as_sentinel", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = "redis+sentinel://" + s.server.Addr() + "/shop"
	}, acts: []act{{name: "redis+sentinel:// to a server", ends: fails}}},
	{name: "server_as_cluster", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_CLUSTER"] = "true"
	}, acts: []act{{name: "REDIS_CLUSTER=true and a single server", ends: fails}}},
	{name: "server_as_seeds", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = s.server.URL() + "," + s.proxy.Addr()
	}, acts: []act{{name: "two addresses of servers that are no Cluster", ends: fails}}},
}

// secureShop starts a server that speaks TLS with a certificate for an address; the
// authority that signed it is in s.file.
func secureShop(s *stage, address string) {
	s.Helper()
	authority := redistest.NewAuthority(s.T)
	shop(append(authority.ServerArgs(s.T, address), "--tls-auth-clients", "no")...)(s)
	s.settings["REDIS_URL"] = "rediss://" + s.server.Addr()
	s.file = authority.CAFile
}
