package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func TestTheErrorsOfOneRecipientAreBounded(t *testing.T) {
	t.Parallel()
	in := &linksv1.PersonalLinkRecipient{}
	for range 500 {
		in.CustomFields = append(in.CustomFields, &linksv1.PersonalLinkAnswer{FieldId: "x"})
	}
	_, violations := rules.NewRecipients(&tenantsv1.GetTenantSettingsResponse{}).Check(in)
	require.Len(t, violations, 50)
	require.Equal(t, "label", violations[0].Field)
	require.Equal(t, problem.FieldRequired, violations[0].Code)
}
