// Command generate writes keyhealth.json, the Grafana dashboard, from the
// panels described here: go run . in this folder, or make docs.
//
// It is a module of its own, so that the exporter does not depend on Grafana's
// SDK. What is written is committed, and a test compares the two.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

const output = "../keyhealth.json"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := render()
	if err != nil {
		return err
	}
	return os.WriteFile(output, text, 0o644)
}

// render returns the whole file.
func render() ([]byte, error) {
	d, err := build()
	if err != nil {
		return nil, fmt.Errorf("build the dashboard: %w", err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // queries hold < and >
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		return nil, fmt.Errorf("encode the dashboard: %w", err)
	}
	return text.Bytes(), nil
}
