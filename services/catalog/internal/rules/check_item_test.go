package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

func TestACampaignCompletesAtItsInstant(t *testing.T) {
	end := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	before, after := end.Add(-time.Microsecond), end.Add(time.Microsecond)
	for _, tc := range []struct {
		stored string
		end    *time.Time
		now    time.Time
		want   string
	}{
		{rules.CampaignActive, &end, before, rules.CampaignActive},
		{rules.CampaignActive, &end, end, rules.CampaignCompleted},
		{rules.CampaignActive, &end, after, rules.CampaignCompleted},
		{rules.CampaignActive, nil, after, rules.CampaignActive},
		{rules.CampaignDraft, &end, after, rules.CampaignDraft},
		{rules.CampaignCompleted, &end, before, rules.CampaignCompleted},
	} {
		require.Equal(t, tc.want, rules.CampaignStatus(tc.stored, tc.end, tc.now))
	}
}
