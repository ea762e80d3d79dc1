// Reasons not to start, as lines of our own: what is wrong, the rule, an
// example. They never hold the value of a URL, a user or a password, which is
// why texts of other packages' errors are not simply passed on.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// problem is one reason not to start.
type problem struct {
	subject string // the setting or flag, or the file and line
	value   string // what it was set to, where that may be shown
	rule    string
	example string // a value that is fine; may be empty
	before  string // what the example stands behind; empty: SUBJECT=
}

// String is one line: SUBJECT="value": rule, for example SUBJECT=example.
func (p problem) String() string {
	line := p.subject + shown(p.value) + ": " + p.rule
	if p.example != "" {
		line += ", for example " + cmp.Or(p.before, p.subject+"=") + p.example
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, line)
}

// report writes a line a problem.
func report(w io.Writer, problems ...problem) {
	for _, p := range problems {
		fmt.Fprintf(w, "keyhealth: %s\n", p)
	}
}

// shown is the ="value" of a line, quoted and shortened. A value that looks
// like a URL, or like the content of a file, is left out: it may have been meant
// for another setting.
func shown(value string) string {
	if value == "" || strings.ContainsAny(value, "@\n") || strings.Contains(value, "://") {
		return ""
	}
	return "=" + strconv.Quote(clipped(value))
}

// clipped is a text with room for a path.
func clipped(text string) string {
	const longest = 80
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return text
}

// ruleError is an error whose text is fit for a problem's rule: it holds no value.
type ruleError string

func (e ruleError) Error() string { return string(e) }

// exampleError is a ruleError with an example that fits the value better than
// that of the setting does; empty: that one does.
type exampleError struct {
	ruleError
	example string
}

// Unwrap makes it a ruleError for whoever asks for that.
func (e exampleError) Unwrap() error { return e.ruleError }

// fileReason is why a file could not be used, without its path, which may be a
// secret that was put in the wrong setting.
func fileReason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return tidy(err)
}

// listenReason is why an address could not be listened on, without the address.
func listenReason(err error) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return "the address is in use by another process"
	}
	if opError, ok := errors.AsType[*net.OpError](err); ok {
		err = opError.Err
	}
	if syscallError, ok := errors.AsType[*os.SyscallError](err); ok {
		err = syscallError.Err
	}
	return "cannot listen there: " + tidy(err)
}

var quoted = regexp.MustCompile("`[^`]*`|'[^']*'|\"[^\"]*\"")

// tidy makes one line of an error's text and hides what it quotes: the YAML
// modules and bcrypt quote from the file they read.
func tidy(err error) string {
	text := quoted.ReplaceAllString(err.Error(), "<hidden>")
	return strings.Join(strings.Fields(text), " ")
}

// tabLine is the line whose indentation with a tab is what a syntax error is
// about, 0 where it is about something else.
func tabLine(content []byte, err error) int {
	at := 0
	if _, failed := fmt.Sscanf(err.Error(), "yaml: line %d: found", &at); failed != nil {
		return 0
	}
	for i, line := range bytes.Split(content, []byte("\n")) {
		switch {
		case !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("\t")):
		case i+1 == at, i+1 > at && strings.Contains(err.Error(), "a tab character"): // that one names the line before
			return i + 1
		}
	}
	return 0
}

// yamlReason makes a syntax error fit for the user.
func yamlReason(err error) string {
	reason := tidy(err)
	if reason == "yaml: unknown anchor <hidden> referenced" || strings.Contains(reason, "alphabetic or numeric character") {
		return "a value that begins with * must be in quotes: match: \"*:limit\""
	}
	return reason
}

// commandLineProblem words an error of kingpin, which quotes arguments: one
// that may be a URL is kept out.
func commandLineProblem(err error, args []string) problem {
	for _, arg := range args {
		if strings.Contains(arg, "://") {
			return problem{subject: "arguments", rule: "a Redis URL is not an argument of this command, set " + nameRedisURL}
		}
		if strings.Contains(arg, "@") {
			return problem{subject: "arguments", rule: "cannot be read, see keyhealth --help"}
		}
	}
	return problem{subject: "arguments", rule: err.Error() + ", see keyhealth --help"}
}
