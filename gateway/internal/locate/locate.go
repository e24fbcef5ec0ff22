// Package locate finds the cell of a record that is asked for without an API key: of a link, by its claim token, or of an image.
// Neither names its tenant, so the cells are asked one after another. A cell that does not have the tenant answers not_found and
// changes nothing, also while the tenant's records are being copied to it.
package locate

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
)

// pause is the time between two searches while a cell is unavailable.
const pause = 200 * time.Millisecond

// Conn is the connections to one service. It makes each call in the cell that has the record.
type Conn struct {
	// ClientConnInterface calls the cell that the context names.
	grpc.ClientConnInterface

	// Letters returns the letters of all cells.
	Letters func(ctx context.Context) []string
	// Hold is how long the record is searched for again while a cell is unavailable. While a tenant moves, its old cell refuses
	// changes for some seconds, and the new one does not have the tenant yet.
	Hold time.Duration
}

// Invoke implements grpc.ClientConnInterface. With one cell, it makes one call and does not wait.
func (c *Conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	call := func(letter string) error {
		return c.ClientConnInterface.Invoke(caller.InCell(ctx, letter), method, args, reply, opts...)
	}
	first := c.first(ctx, args)
	err := call(first)
	if !mayBeElsewhere(err) {
		return err
	}
	others := slices.DeleteFunc(c.Letters(ctx), func(letter string) bool { return letter == first })
	if len(others) == 0 {
		return err
	}
	for until := time.Now().Add(c.Hold); ; {
		for _, letter := range others {
			other := call(letter)
			if !mayBeElsewhere(other) {
				return other
			}
			if problem.Is(other, problem.ServiceUnavailable) {
				err = other
			}
		}
		if problem.Is(err, problem.NotFound) || !wait(ctx, until) {
			return err
		}
		if err = call(first); !mayBeElsewhere(err) {
			return err
		}
	}
}

// first returns the cell that most probably has the record: the one in which a token was made, whose letter it begins with. It is
// the first cell for an image, and for a token that begins with something else.
func (c *Conn) first(ctx context.Context, args any) string {
	of, ok := args.(interface{ GetToken() string })
	if !ok || of.GetToken() == "" {
		return identity.HomeCell
	}
	letter := of.GetToken()[:1]
	if letter == identity.HomeCell || letter < "a" || letter > "z" || !slices.Contains(c.Letters(ctx), letter) {
		return identity.HomeCell
	}
	return letter
}

func mayBeElsewhere(err error) bool {
	return problem.Is(err, problem.NotFound) || problem.Is(err, problem.ServiceUnavailable)
}

// wait waits for the next search. It is false if there is none, because the time is over or the caller has left.
func wait(ctx context.Context, until time.Time) bool {
	if !time.Now().Before(until) {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
