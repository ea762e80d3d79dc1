// Package imagetest holds the tests of what is shipped: the container image,
// built by buildah and run as an orchestrator runs it, the sizes of the binaries,
// and the files of deploy/. It has nothing to import.
package imagetest
