package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func TestTheFaultsOfOneRecipientAreBounded(t *testing.T) {
	in := &linksv1.PersonalLinkRecipient{}
	for range 500 {
		in.CustomFields = append(in.CustomFields, &linksv1.PersonalLinkAnswer{FieldId: "x"})
	}
	_, faults := rules.NewRecipients(&tenantsv1.GetTenantSettingsResponse{}).Check(in)
	require.Len(t, faults, 50)
	require.Equal(t, "label", faults[0].Field)
	require.Equal(t, problem.FieldRequired, faults[0].Code)
}
