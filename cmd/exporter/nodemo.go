//go:build nodemo

package main

import (
	"context"
	"io"

	"github.com/alecthomas/kingpin/v2"
)

// demoCommand is empty: this build has no demo.
const demoCommand = ""

func addDemo(*kingpin.Application) {}

func serveDemo(context.Context, *config, io.Writer, io.Writer) int { return exitUsage }
