// The command line: which command, which flags, which exit code. What a command
// does is in the file named after it.

package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
)

const (
	exitFine  = 0
	exitUsage = 2 // wrong usage or configuration

	serveCommand = "serve"
)

func main() {
	version.Version = cmp.Or(version.Version, "devel") // a build without the Makefile's flags
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal finds the default handling, and ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: its arguments in, its exit code out. It returns soon
// after ctx ends. Settings come from the environment of the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	line, err := parse(args, stdout)
	if err != nil {
		report(stderr, commandLineProblem(err, args))
		return exitUsage
	}
	if line.answered {
		return exitFine
	}
	hangups := catchHangups(line.command)
	cfg, problems := load(line.flags)
	if len(problems) > 0 {
		report(stderr, problems...)
		return exitUsage
	}
	switch line.command {
	case "check-config":
		checkConfig(stdout, cfg)
		return exitFine
	case aclCommand:
		return printACL(stdout, stderr, cfg, line.serverVersion)
	case selfTestCommand:
		return selfTest(ctx, cfg, stdout, stderr)
	case demoCommand:
		return serveDemo(ctx, cfg, stdout, stderr)
	}
	return serve(ctx, cfg, hangups, stderr)
}

// flags are the settings that the command line accepts too; unset ones are empty.
type flags struct {
	listenAddresses []string
	webConfigFile   string
	logLevel        string
	logFormat       string
	redisURL        string // an argument; it stands for its setting
}

type commandLine struct {
	command       string
	flags         flags
	serverVersion string // of acl
	answered      bool   // --help or --version: there is nothing left to do
}

func parse(args []string, stdout io.Writer) (commandLine, error) {
	var line commandLine
	failed := false
	app := kingpin.New("keyhealth", "A Prometheus exporter that finds Redis keys without TTL.").
		UsageWriter(stdout).
		ErrorWriter(io.Discard). // run reports errors, in its own form
		UsageTemplate(usageTemplate).
		UsageFuncs(usageFuncs()).
		Terminate(func(code int) { line.answered, failed = true, failed || code != 0 })
	app.HelpFlag.Short('h').Help("Show this text.")
	app.Version(version.Print("keyhealth"))
	app.VersionFlag.Help("Show the version.")

	app.Command(serveCommand, "Watch Redis and serve its metrics; the default command.")
	addDemo(app)
	addSelfTest(app, &line)
	app.Command("check-config", "Validate settings and groups, and print what is in force, with secrets hidden. Connects to nothing.")
	app.Command(aclCommand, "Print the smallest ACL rule for what is configured, and why; --server-version=7.0. Connects to nothing.").
		Flag("server-version", "Version of the servers.").Default("7.0").StringVar(&line.serverVersion)

	app.Flag("web.listen-address", "Address to serve on; repeatable. Wins over "+nameListenAddress+".").
		PlaceHolder("ADDRESS").StringsVar(&line.flags.listenAddresses)
	app.Flag("web.config.file", "File with TLS and basic auth. Wins over "+nameWebConfigFile+".").
		PlaceHolder("FILE").StringVar(&line.flags.webConfigFile)
	app.Flag("log.level", "debug, info, warn or error. Wins over "+nameLogLevel+".").
		PlaceHolder("LEVEL").StringVar(&line.flags.logLevel)
	app.Flag("log.format", "logfmt or json. Wins over "+nameLogFormat+".").
		PlaceHolder("FORMAT").StringVar(&line.flags.logFormat)

	// Not kingpin's Default(): that swallows a flag without its value.
	if context, err := app.ParseContext(args); err == nil && context.SelectedCommand == nil {
		args = append([]string{serveCommand}, args...)
	}
	command, err := app.Parse(args)
	if line.answered && !failed {
		// kingpin goes on to parse after it has answered; what it finds then is nobody's business.
		return line, nil
	}
	line.command = command
	return line, withNearest(err, app.Model(), args)
}
