// Command giftingctl calls the operations planes of the platform, for operators and internal teams.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/partnergifting/platform/deploy/giftingctl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	code := giftingctl.Run(ctx, os.Args[1:], giftingctl.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())), OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	})
	stop()
	os.Exit(code)
}
