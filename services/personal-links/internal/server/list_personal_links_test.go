package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestOnlyLinksOfTheKeyAreListed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	first, second, foreign := f.link(1), f.link(2), f.link(3)
	foreign.tenant = newID()
	f.insert(first, second, foreign)
	all := &linksv1.ListPersonalLinksRequest{}

	t.Run("a key of all brands sees all links of the tenant", func(t *testing.T) {
		require.Equal(t, []string{second.id, first.id}, f.ids(t, f.everyBrand(), all))
	})
	t.Run("a limited key sees the links of its brands", func(t *testing.T) {
		p := caller.Principal{TenantID: f.tenant, BrandIDs: []string{first.brand, foreign.brand}}
		require.Equal(t, []string{first.id}, f.ids(t, p, all))
	})
	t.Run("a key of no brand sees none", func(t *testing.T) {
		require.Empty(t, f.ids(t, caller.Principal{TenantID: f.tenant}, all))
	})
	t.Run("a call without a principal is refused", func(t *testing.T) {
		_, err := f.client.ListPersonalLinks(t.Context(), all)
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	plain, campaign, claimed := f.link(1), f.link(2), f.link(3)
	plain.recipient = new("player-1")
	campaign.campaign, campaign.recipient = new(newID()), new("player-2")
	claimed.campaign, claimed.status = campaign.campaign, "CLAIMED"
	claimed.order, claimed.claimed = new(newID()), new(claimed.updated)
	f.insert(plain, campaign, claimed)
	for name, c := range map[string]struct {
		req  *linksv1.ListPersonalLinksRequest
		want []string
	}{
		"by campaign, in either case": {
			&linksv1.ListPersonalLinksRequest{CampaignId: new(strings.ToUpper(*campaign.campaign))},
			[]string{claimed.id, campaign.id},
		},
		"by a long recipient":   {&linksv1.ListPersonalLinksRequest{ExternalRecipientId: new(strings.Repeat("å", 5000))}, []string{}},
		"by a recipient of NUL": {&linksv1.ListPersonalLinksRequest{ExternalRecipientId: new("player-1\x00")}, []string{}},
		"by last change, a nanosecond later": {
			&linksv1.ListPersonalLinksRequest{UpdatedSince: timestamppb.New(campaign.updated.Add(1))},
			[]string{claimed.id},
		},
		"from the first possible instant": {
			&linksv1.ListPersonalLinksRequest{UpdatedSince: &timestamppb.Timestamp{Seconds: -62135596800}},
			[]string{plain.id, campaign.id, claimed.id},
		},
		"from the last possible instant": {
			&linksv1.ListPersonalLinksRequest{UpdatedSince: &timestamppb.Timestamp{Seconds: 253402300799, Nanos: 999_999_999}},
			[]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, f.ids(t, f.everyBrand(), c.req))
		})
	}
	pagetest.EachFilter(t, &linksv1.ListPersonalLinksRequest{}, func(t *testing.T, req *linksv1.ListPersonalLinksRequest) {
		require.Empty(t, f.ids(t, f.everyBrand(), req))
	})
}

func TestErrorsAreListedTogether(t *testing.T) {
	t.Parallel()
	f := setup(t)
	unknown := linksv1.PersonalLinkStatus(9)
	unspecified := linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_UNSPECIFIED

	t.Run("all errors, with those of the edge", func(t *testing.T) {
		ctx := f.keyContext(f.everyBrand(), problem.Violation{Field: "updatedSince", Code: problem.FieldInvalid, Message: "no instant"})
		_, err := f.client.ListPersonalLinks(ctx, &linksv1.ListPersonalLinksRequest{
			CampaignId: new(""), ExternalRecipientId: new("a\x00"), Status: &unknown,
			Limit: new(int32(101)), After: new("x"),
		})
		requireViolations(t, err, "updatedSince invalid", "campaignId invalid", "status invalid", "limit invalid", "after invalid")
	})
	t.Run("an unknown status, an invalid instant", func(t *testing.T) {
		_, err := f.list(&linksv1.ListPersonalLinksRequest{Status: &unspecified, UpdatedSince: &timestamppb.Timestamp{Nanos: -1}})
		requireViolations(t, err, "status invalid", "updatedSince invalid")
	})
}
