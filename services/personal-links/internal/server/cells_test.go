package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestTheLinkOfATenantInAnotherCellIsNotFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	open, taken := f.newLink(t), f.claimed(t)
	f.serve() // Its copies of settings are read anew.
	ctx := t.Context()
	site := func(l *linksv1.PersonalLink) map[string]error {
		claim := formOf(l, aNonce)
		errs := map[string]error{}
		_, errs["GetClaimPage"] = f.site.GetClaimPage(ctx, &linksv1.GetClaimPageRequest{Token: token(l)})
		_, errs["GetClaimDraft"] = f.site.GetClaimDraft(ctx, &linksv1.GetClaimDraftRequest{Token: token(l), FormNonce: aNonce})
		_, errs["SaveClaimDraft"] = f.site.SaveClaimDraft(ctx, &linksv1.SaveClaimDraftRequest{
			Token: token(l), FormNonce: aNonce, Gift: &linksv1.ClaimChoiceOfGift{ProductId: claim.GetProductId()},
		})
		_, errs["ClaimLink"] = f.site.ClaimLink(ctx, claim)
		if l == taken {
			_, errs["GetClaimedGift"] = f.site.GetClaimedGift(ctx, &linksv1.GetClaimedGiftRequest{Token: token(l), FormNonce: new(aNonce)})
			_, errs["ReopenClaimedGift"] = f.site.ReopenClaimedGift(ctx,
				&linksv1.ReopenClaimedGiftRequest{Token: token(l), FormNonce: aNonce, PhoneDigits: rightDigits})
		}
		return errs
	}
	f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) { s.Cell = "b" })
	for _, l := range []*linksv1.PersonalLink{open, taken} {
		for method, err := range site(l) {
			require.True(t, problem.Is(err, problem.NotFound), "%s: %v", method, err)
		}
	}
	_, err := f.operations.ReadPersonalLink(ctx,
		&linksv1.ReadPersonalLinkRequest{Actor: operator(), TenantId: f.tenant, LinkId: open.GetId()})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)

	f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) { s.Cell = "" })
	for method, err := range site(taken) {
		require.NoError(t, err, method)
	}
}
