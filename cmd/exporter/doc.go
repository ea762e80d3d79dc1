// Command keyhealth is a Prometheus exporter that finds Redis keys without TTL.
//
// [run] is the whole program: it reads the command line, loads and checks the
// settings ([load]), and does what the command says: [serve], [checkConfig],
// [selfTest] or [printACL].
// What a Redis key's health is lives in package collector; here it is only
// configured and served.
package main
