package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/settings"
)

const checkFlag = "--check"

var (
	errBehind    = errors.New("the database is behind this version, `migrate` brings it up to date; pending")
	errArguments = errors.New("takes nothing but " + checkFlag)
)

// migrate brings the database up to date, or only looks when it is to check.
func (p Program[C, S]) migrate(ctx context.Context, cfg *C, args []string, out io.Writer) error {
	check := slices.Equal(args, []string{checkFlag})
	if len(args) > 0 && !check {
		return errArguments
	}
	if err := settings.Load(cfg); err != nil {
		return err
	}
	if !check {
		return p.Migrate(ctx, *cfg)
	}
	if err := p.upToDate(ctx, *cfg); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "The database is up to date.")
	return err
}

// upToDate refuses a database that lacks a migration of this version: the code relies on all of
// them. A database that is ahead is right, in the middle of a rollout or after one was taken back.
func (p Program[C, S]) upToDate(ctx context.Context, cfg C) error {
	if p.Migrate == nil {
		return nil
	}
	pending, err := p.Pending(ctx, cfg)
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		return fmt.Errorf("%w: %s", errBehind, strings.Join(pending, ", "))
	}
	return nil
}
