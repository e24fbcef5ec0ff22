package httperror_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestOnlyTheLossOfTheCallerAbortsARequest(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	expired, end := context.WithTimeout(t.Context(), 0)
	defer end()
	cancelled := fmt.Errorf("wait: %w", context.Canceled)
	for name, c := range map[string]struct {
		ctx    context.Context //nolint:containedctx // A case of a table.
		err    error
		status int
	}{
		"the caller has left":                             {gone, cancelled, 0},
		"the caller has left, but the service had failed": {gone, problem.Internal(), http.StatusInternalServerError},
		"the caller has left, but the service was down":   {gone, problem.Unavailable(), http.StatusServiceUnavailable},
		"the caller has left, but something else broke":   {gone, errors.New("broken"), http.StatusInternalServerError},
		"the service cancelled by itself":                 {t.Context(), cancelled, http.StatusInternalServerError},
		"the time of the request is over":                 {expired, cancelled, http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := httptest.NewRecorder()
			write := func() {
				httperror.Writer{Log: slog.New(slog.DiscardHandler)}.Write(c.ctx, recorder, c.err)
			}
			if c.status == 0 {
				require.PanicsWithValue(t, http.ErrAbortHandler, write)
				return
			}
			write()
			require.Equal(t, c.status, recorder.Code)
		})
	}
}
