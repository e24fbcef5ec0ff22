package httperror

import (
	"context"
	"errors"
	"net/http"

	"github.com/partnergifting/platform/pkg/rpc"
)

// AbortIfCallerLeft aborts a request, by a panic that package net/http knows, if it failed only because its caller has left: what
// it was waiting for was cancelled with it. There is nobody to answer. Another error that comes at the same time is answered as
// usual, so that it counts as a failure of the platform.
func AbortIfCallerLeft(ctx context.Context, err error) {
	cancelled := errors.Is(err, context.Canceled) || rpc.WasCanceled(err)
	if cancelled && errors.Is(ctx.Err(), context.Canceled) {
		panic(http.ErrAbortHandler)
	}
}
