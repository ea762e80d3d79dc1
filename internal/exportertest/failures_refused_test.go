// The cases of failures_test.go in which the server does not let us in, or lacks or
// forbids what a sweep needs.

package exportertest

import (
	"os"
	"path/filepath"
	"slices"
)

var refusedFailures = []failure{
	{name: "noauth", begin: shop(), acts: []act{
		well,
		{name: "the server wants a password", do: sends("CONFIG", "SET", "requirepass", "hunter2"), ends: fails},
		again(sends("CONFIG", "SET", "requirepass", "")),
	}},
	{name: "wrongpass", begin: func(s *stage) {
		shop("--requirepass", "hunter2")(s)
		s.file = filepath.Join(s.TempDir(), "password")
		s.write("hunter2")
		s.settings["REDIS_PASSWORD_FILE"] = s.file
	}, acts: []act{
		well,
		{name: "the password is another", do: idle(func(s *stage) { s.write("hunter22") }), ends: fails},
		again(func(s *stage) { s.write("hunter2") }),
	}},
	{name: "no_password_file", begin: func(s *stage) {
		shop("--requirepass", "hunter2")(s)
		s.file = filepath.Join(s.TempDir(), "password")
		s.write("hunter2")
		s.settings["REDIS_PASSWORD_FILE"] = s.file
	}, acts: []act{
		well,
		{name: "the password file is gone", do: idle(func(s *stage) {
			if err := os.Remove(s.file); err != nil {
				s.Fatal(err)
			}
		}), ends: fails},
		again(func(s *stage) { s.write("hunter2") }),
	}},
	{name: "protected_mode", begin: func(s *stage) { // a server on loopback cannot say so to loopback
		answering(s, "-DENIED Redis is running in protected mode because protected mode is enabled and SECRET\r\n")
	}, acts: []act{{name: "the server takes connections from its own machine only", ends: fails}}},
	{name: "noperm_scan", begin: shop(), acts: []act{
		well,
		{name: "the ACL takes away what a sweep needs", do: sends("ACL", "SETUSER", "default", "-scan"), ends: fails},
		again(sends("ACL", "SETUSER", "default", "+scan")),
	}},
	{name: "noperm_info", begin: shop(), acts: []act{
		well,
		{name: "the ACL takes INFO away", do: sends("ACL", "SETUSER", "default", "-info"), ends: fails},
		again(sends("ACL", "SETUSER", "default", "+info")),
	}},
	{name: "noperm_memory", begin: shop(), acts: []act{
		well,
		{name: "the ACL takes away what a sweep can do without", do: sends("ACL", "SETUSER", "default", "-memory|usage"), ends: succeeds,
			when: func(m Metrics) bool {
				return slices.Contains(m.Values("keyhealth_capability", "capability=memory_usage"), 0) && counted("NOPERM")(m)
			}},
		again(sends("ACL", "SETUSER", "default", "+memory|usage")),
	}},
	{name: "noperm_keys", begin: shop(), acts: []act{
		well,
		{name: "the ACL keeps every key from us", do: sends("ACL", "SETUSER", "default", "resetkeys"), ends: fails},
		again(sends("ACL", "SETUSER", "default", "~*")),
	}},
	{name: "no_scan", begin: shop("--rename-command", "SCAN", ""), acts: []act{
		{name: "a server, or a proxy, that knows no SCAN", ends: fails},
	}},
	{name: "no_info", begin: shop("--rename-command", "INFO", ""), acts: []act{
		{name: "a server, or a proxy, that knows no INFO", ends: fails},
	}},
	{name: "no_memory_usage", begin: shop("--rename-command", "MEMORY", ""), acts: []act{
		{name: "a server, or a proxy, that knows no MEMORY USAGE", ends: succeeds},
	}},
	{name: "no_such_database", begin: func(s *stage) {
		shop("--databases", "2")(s)
		s.settings["DATABASES"] = "7"
	}, acts: []act{{name: "there are fewer databases", ends: fails}}},
}

// write replaces the password.
func (s *stage) write(password string) {
	s.Helper()
	if err := os.WriteFile(s.file, []byte(password+"\n"), 0o600); err != nil {
		s.Fatal(err)
	}
}
