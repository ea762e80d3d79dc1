// The rules about how a target is reached: user, kind of deployment, TLS.

package main

import (
	"slices"
	"strings"

	"keyhealth/collector/spec"
)

// redis checks how a target is reached.
func (v *validator) redis() {
	v.user()
	if v.cfg.Redis.URL.database != nil && !v.cfg.given[nameDatabases].isEmpty() {
		v.refuse(nameDatabases, "must not be given together with a database in KEYHEALTH_REDIS_URL")
	}
	v.deployment()
	v.sentinel()
	v.redisTLS()
}

func (v *validator) user() {
	cfg := v.cfg
	user, password, file := !cfg.Redis.Username.isEmpty(), !cfg.Redis.Password.isEmpty(), cfg.Redis.PasswordFile != ""
	switch {
	case cfg.Redis.URL.hasUser() && (user || password || file):
		v.refuse(nameRedisURL, "holds a user or password: give both in the URL, or both as settings of their own")
	case password && file:
		v.refuse(namePassword, "must not be given together with KEYHEALTH_REDIS_PASSWORD_FILE")
	case !cfg.Redis.URL.username.isEmpty() && cfg.Redis.URL.password.isEmpty():
		v.refuse(nameRedisURL, "holds a user without password: a user of the ACL with nopass takes any password")
	case user && !password && !file:
		v.refuse(nameUsername, "needs KEYHEALTH_REDIS_PASSWORD or KEYHEALTH_REDIS_PASSWORD_FILE: a user of the ACL with nopass takes any password")
	}
	v.passwordFile("REDIS_PASSWORD_FILE", cfg.Redis.PasswordFile)
}

// passwordFile looks into the file of the named setting, if there is one.
func (v *validator) passwordFile(name, path string) {
	if path == "" {
		return
	}
	content, err := readRegular(path)
	switch {
	case err != nil:
		v.brokenFile(name, fileReason(err))
	case strings.Trim(string(content), "\r\n") == "":
		v.brokenFile(name, "it is empty")
	}
}

// deployment checks that a single server, a Cluster and a Sentinel set are not
// asked for at the same time.
func (v *validator) deployment() {
	url, cluster := v.cfg.Redis.URL, v.cfg.Redis.Cluster
	others := slices.ContainsFunc(v.cfg.Databases, func(number int) bool { return number != 0 })
	switch {
	case cluster == "true" && url.isSentinel():
		v.refuse(nameCluster, "must not be true where KEYHEALTH_REDIS_URL names Sentinels: a set that they watch is no Cluster")
	case cluster == "true" && url.network == "unix":
		v.refuse(nameCluster, "must not be true where KEYHEALTH_REDIS_URL names a socket: give host:port of a node")
	case cluster == "true" && url.database != nil && *url.database != 0:
		v.refuse(nameRedisURL, "must not hold a database above 0 where KEYHEALTH_REDIS_CLUSTER is true: a Cluster has no other than 0")
	case cluster == "true" && others:
		v.refuse(nameDatabases, "must be all or 0 where KEYHEALTH_REDIS_CLUSTER is true: a Cluster has no other")
	case cluster == "false" && !url.isSentinel() && len(url.addresses) > 1:
		v.refuse(nameRedisURL, "must hold one address where KEYHEALTH_REDIS_CLUSTER is false: several are seeds of a Cluster")
	}
	if v.cfg.Redis.PreferReplica == "true" && (url.network == "unix" || cluster == "false" && !url.isSentinel()) {
		v.refuse(namePreferReplica, "must not be true for a single server: only in a Cluster or a Sentinel set is a replica looked for")
	}
}

func (v *validator) sentinel() {
	sentinel := v.cfg.Sentinel
	if sentinel == (sentinelSettings{}) {
		return
	}
	if !v.cfg.Redis.URL.isSentinel() {
		v.needless(prefixSentinel, "needs a KEYHEALTH_REDIS_URL that begins with redis+sentinel:// or the like")
		return
	}
	if !sentinel.Username.isEmpty() && sentinel.PasswordFile == "" {
		v.refuse(nameSentinelUser, "needs KEYHEALTH_SENTINEL_PASSWORD_FILE too")
	}
	v.passwordFile("SENTINEL_PASSWORD_FILE", sentinel.PasswordFile)
}

// needless refuses the given settings whose names begin like that.
func (v *validator) needless(names, rule string) {
	for _, row := range v.rows {
		if strings.HasPrefix(row.name, names) && !v.cfg.given[row.name].isEmpty() {
			v.refuse(row.name, rule)
		}
	}
}

func (v *validator) redisTLS() {
	tls := v.cfg.Redis.TLS
	if tls != (redisTLSSettings{}) && !v.cfg.Redis.URL.usesTLS() {
		v.needless(prefixTLS, "needs a KEYHEALTH_REDIS_URL that begins with rediss:// or valkeys://")
		return
	}
	switch {
	case tls.KeyFile == "" && tls.CertFile != "":
		v.refuse(prefix+"REDIS_TLS_CERT_FILE", "needs KEYHEALTH_REDIS_TLS_KEY_FILE too")
		return
	case tls.CertFile == "" && tls.KeyFile != "":
		v.refuse(prefix+"REDIS_TLS_KEY_FILE", "needs KEYHEALTH_REDIS_TLS_CERT_FILE too")
		return
	}
	// Loaded one by one, as the collector will, to know which setting is at fault.
	if tls.CAFile != "" {
		if _, err := (&spec.TLS{CAFile: tls.CAFile}).Load(""); err != nil {
			v.brokenFile("REDIS_TLS_CA_FILE", tidy(err))
		}
	}
	if tls.CertFile != "" {
		if _, err := (&spec.TLS{CertFile: tls.CertFile, KeyFile: tls.KeyFile}).Load(""); err != nil {
			v.brokenFile("REDIS_TLS_CERT_FILE", tidy(err))
		}
	}
}
