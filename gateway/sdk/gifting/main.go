// Command gifting is the command line for integrators of the Partner Gifting API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	code := cli.Run(ctx, os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Secret: func() ([]byte, error) { return term.ReadPassword(int(os.Stdin.Fd())) }, Terminal: term.IsTerminal(int(os.Stdin.Fd())),
	})
	stop()
	os.Exit(code)
}
