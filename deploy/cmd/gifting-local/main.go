// Command gifting-local runs the whole platform on this machine, with demo data.
//
// PORT_BASE moves all its ports. CELLS has the letters of further cells, such as b, or b,c.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
)

func main() {
	daemon.TuneGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gifting-local:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cfg := local.Config{Out: os.Stdout}
	if err := settings.Load(&cfg); err != nil {
		return err
	}
	if base := os.Getenv("PORT_BASE"); base != "" {
		port, err := strconv.Atoi(base)
		if err != nil {
			return fmt.Errorf("PORT_BASE: %w", err)
		}
		cfg.PortBase = port
	}
	if cells := os.Getenv("CELLS"); cells != "" {
		cfg.Cells = strings.Split(cells, ",")
	}
	return local.Run(ctx, cfg)
}
