package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func (f *fixture) approveInSandbox(ctx context.Context, linkID string) (*linksv1.PersonalLink, error) {
	resp, err := f.sandbox.ApproveSandboxPersonalLink(ctx, &linksv1.ApproveSandboxPersonalLinkRequest{LinkId: linkID})
	return resp.GetLink(), err
}

func TestInTheSandboxAKeyApprovesALink(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	_, links := f.waiting(t, 1)
	link := links[0]
	approved, err := f.approveInSandbox(f.post("a"), link.GetId())
	require.NoError(t, err)
	require.Equal(t, rules.Active, approved.GetStatus())
	require.Equal(t, approved.GetUpdatedAt().AsTime(), approved.GetApprovedAt().AsTime())
	require.True(t, proto.Equal(approved, f.read(t, link)))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, f.kinds(t, link.GetId()))
	require.Zero(t, f.events(t)[1].origin, "the key receives the event by webhook")
	require.Equal(t, 1, f.count(t, "link_audit WHERE action = 'APPROVED' AND actor_kind = 'SYSTEM' AND actor_id = 'Sandbox'"))

	t.Run("a repetition gets the first answer", func(t *testing.T) {
		_, err := f.claimInSandbox(f.post("c"), &linksv1.ClaimSandboxPersonalLinkRequest{LinkId: link.GetId()})
		require.NoError(t, err)
		again, err := f.approveInSandbox(f.post("a"), link.GetId())
		require.NoError(t, err)
		require.True(t, proto.Equal(approved, again))
	})
	t.Run("an approved link does not change", func(t *testing.T) {
		same, err := f.approveInSandbox(f.post("b"), link.GetId())
		require.NoError(t, err)
		require.True(t, proto.Equal(f.read(t, link), same))
		require.Equal(t, rules.Claimed, same.GetStatus())
		require.Equal(t, 1, f.count(t, "link_audit"))
	})
}

func TestInTheSandboxAKeyActsOnlyOnItsLinks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, links := f.waiting(t, 1)
	for name, c := range map[string]struct {
		ctx  context.Context
		link string
	}{
		"another brand":       {f.post("a", newID()), links[0].GetId()},
		"an unknown link":     {f.post("b"), newID()},
		"an id that is no id": {f.post("c"), "x"},
		"another tenant":      {f.asTenant(newID()), links[0].GetId()},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.approveInSandbox(c.ctx, c.link)
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			_, err = f.claimInSandbox(c.ctx, &linksv1.ClaimSandboxPersonalLinkRequest{LinkId: c.link})
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		})
	}
	require.True(t, proto.Equal(links[0], f.read(t, links[0])))
}
