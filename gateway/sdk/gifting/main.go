// Command gifting is the command line for integrators of the Partner Gifting API.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/cli"
)

func main() {
	input := int(os.Stdin.Fd())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	code := cli.Run(ctx, os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Secret: func() ([]byte, error) { return readSecret(ctx, input) }, Terminal: term.IsTerminal(input),
	})
	stop()
	os.Exit(code)
}

// readSecret reads a line of a terminal without showing it. If the context ends first, the terminal shows again what is typed.
func readSecret(ctx context.Context, input int) ([]byte, error) {
	before, err := term.GetState(input)
	if err != nil {
		return nil, err
	}
	var line []byte
	done := make(chan error, 1)
	go func() {
		var err error
		line, err = term.ReadPassword(input)
		done <- err
	}()
	select {
	case err := <-done:
		return line, err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), term.Restore(input, before))
	}
}
