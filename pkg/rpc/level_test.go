package rpc

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// waiters returns the programs that wait for each other if all are upgraded at once.
func waiters(table map[identity.Name]map[identity.Name]int) []identity.Name {
	const visiting, done = 1, 2
	state := map[identity.Name]int{}
	var path []identity.Name
	var cyclic func(of identity.Name) bool
	cyclic = func(of identity.Name) bool {
		state[of] = visiting
		path = append(path, of)
		for peer := range table[of] {
			if state[peer] == visiting || state[peer] == 0 && cyclic(peer) {
				return true
			}
		}
		path = path[:len(path)-1]
		state[of] = done
		return false
	}
	for program := range table {
		if state[program] == 0 && cyclic(program) {
			return path
		}
	}
	return nil
}

func TestNoProgramsWaitForEachOther(t *testing.T) {
	t.Parallel()
	require.Empty(t, waiters(levels))
	for program, peers := range levels {
		for peer, level := range peers {
			require.LessOrEqual(t, level, ContractLevel, "%s needs a level of %s that no release has", program, peer)
		}
	}
	chain := map[identity.Name]map[identity.Name]int{
		identity.Gateway: {identity.Orders: 2, identity.Catalog: 2}, identity.Orders: {identity.Catalog: 2},
	}
	require.Empty(t, waiters(chain))
	chain[identity.Catalog] = map[identity.Name]int{identity.Orders: 2}
	require.NotEmpty(t, waiters(chain))
}

func TestAPeerWhoseNameCannotBeLookedUpPassesOnlyAfterManyTries(t *testing.T) {
	t.Parallel()
	to := Target{Service: identity.Orders, Addr: "orders.example:1", TLS: identitytest.New(t).Config(t, identity.Gateway)}
	peer, err := NewPeer(to, telemetry.Discard())
	require.NoError(t, err)
	failed := errors.New("no network yet")
	peer.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, failed }}
	for range maxFailedLookUps {
		require.ErrorContains(t, peer.Check(t.Context(), identity.Gateway), failed.Error())
	}
	require.NoError(t, peer.Check(t.Context(), identity.Gateway), "services would wait for each other")
}

func TestServersSayTheirLevelOverTLS(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	addr := all(t, signer.Config(t, identity.Orders))
	ask := func(service, as identity.Name) (level int, ok bool) {
		peer, err := NewPeer(Target{Service: service, Addr: addr, TLS: signer.Config(t, as)}, telemetry.Discard())
		require.NoError(t, err)
		require.NoError(t, peer.Check(t.Context(), as))
		return peer.level(t.Context(), addr, addr)
	}
	for _, as := range []identity.Name{identity.Gateway, identity.Webhook} {
		level, ok := ask(identity.Orders, as)
		require.True(t, ok)
		require.Equal(t, ContractLevel, level)
	}
	_, ok := ask(identity.Catalog, identity.Gateway)
	require.False(t, ok, "it is another service")
}
