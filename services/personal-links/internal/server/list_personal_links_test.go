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
	link := f.newLink(t).GetId()
	for name, c := range map[string]struct {
		key  caller.Principal
		want []string
	}{
		"a key of all brands":      {f.everyBrand(), []string{link}},
		"a key of its brand":       {caller.Principal{TenantID: f.tenant, BrandIDs: []string{newID(), f.brand}}, []string{link}},
		"a key of another brand":   {caller.Principal{TenantID: f.tenant, BrandIDs: []string{newID()}}, []string{}},
		"a key of no brand":        {caller.Principal{TenantID: f.tenant}, []string{}},
		"a key of another tenant ": {caller.Principal{TenantID: newID(), AllBrands: true}, []string{}},
	} {
		require.Equal(t, c.want, f.ids(t, c.key, &linksv1.ListPersonalLinksRequest{}), name)
	}
	_, err := f.client.ListPersonalLinks(t.Context(), &linksv1.ListPersonalLinksRequest{})
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
}

func TestFilters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	first, second := f.newLink(t), f.newLink(t)
	type filters = linksv1.ListPersonalLinksRequest
	for name, c := range map[string]struct {
		req  *filters
		want []string
	}{
		"by campaign, in either case": {
			&filters{CampaignId: new(strings.ToUpper(f.campaign))}, []string{second.GetId(), first.GetId()},
		},
		"by a recipient of NUL": {&filters{ExternalRecipientId: new("player-1\x00")}, []string{}},
		"by last change, a nanosecond later": {
			&filters{UpdatedSince: timestamppb.New(first.GetUpdatedAt().AsTime().Add(1))}, []string{second.GetId()},
		},
		"from the first possible instant": {
			&filters{UpdatedSince: &timestamppb.Timestamp{Seconds: -62135596800}}, []string{first.GetId(), second.GetId()},
		},
		"from the last possible instant": {
			&filters{UpdatedSince: &timestamppb.Timestamp{Seconds: 253402300799, Nanos: 999_999_999}}, []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, f.ids(t, f.everyBrand(), c.req))
		})
	}
	pagetest.EachFilter(t, &filters{}, func(t *testing.T, req *filters) {
		require.Empty(t, f.ids(t, f.everyBrand(), req))
	})
	unknown := linksv1.PersonalLinkStatus(9)
	_, err := f.list(&filters{Status: &unknown, UpdatedSince: &timestamppb.Timestamp{Nanos: -1}})
	requireViolations(t, err, "status invalid", "updatedSince invalid")
}
