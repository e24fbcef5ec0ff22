package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
)

var errAssembly = errors.New("a part cannot be made")

func TestWhatAServiceOpensIsClosedInReverseOrder(t *testing.T) {
	t.Parallel()
	var closed []string
	assemble := func(outcome error) func(s *service.Service) error {
		return func(s *service.Service) error {
			s.AtEnd(func() {
				closed = append(closed, "first")
				require.NoError(t, s.Pool.Ping(context.WithoutCancel(t.Context())), "the database is closed last")
			})
			s.AtEnd(func() { closed = append(closed, "second") })
			s.Add(daemon.Part{Name: "short", Run: func(context.Context) error { return errAssembly }})
			return outcome
		}
	}
	cfg := service.Config{Telemetry: telemetry.Discard(), NoServer: true, Database: &postgres.Config{URL: pgtest.NewURL(t)}}

	_, err := service.New(t.Context(), cfg, assemble(errAssembly))
	require.ErrorIs(t, err, errAssembly)
	require.Equal(t, []string{"second", "first"}, closed)

	closed = nil
	s, err := service.New(t.Context(), cfg, assemble(nil))
	require.NoError(t, err)
	require.Empty(t, closed)
	conn, err := s.Dial(identity.Orders, "127.0.0.1:1")
	require.NoError(t, err)
	require.ErrorIs(t, s.Run(t.Context()), errAssembly)
	require.Equal(t, []string{"second", "first"}, closed)
	require.Error(t, conn.Close(), "it is closed already")
	require.Error(t, s.Pool.Ping(t.Context()))
}
