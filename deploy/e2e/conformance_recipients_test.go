package e2e_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// promisesOfLabels is of what a batch says of a recipient.
func (s *shop) promisesOfLabels(t *testing.T) {
	for _, field := range []struct {
		promise, name string
		limit         int
	}{
		{"label is required and has at most 255 characters", "label", 255},
		{"externalRecipientId has at most 128 characters", "externalRecipientId", 128},
		{"message has at most 255 characters", "message", 255},
		{"the e-mail is optional, well formed and of at most 255 characters", "email", 255},
	} {
		t.Run(field.promise, func(t *testing.T) {
			text := fresh
			if field.name == "email" {
				text = address
			}
			s.link(t, recipient(field.name, text(field.limit)))
			s.reject(t, field.name+" too_long", recipient(field.name, text(field.limit+1)))
		})
	}
	page := func(link map[string]any) *linksv1.GetClaimPageResponse {
		page, err := s.giftSite(t).GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(link)})
		require.NoError(t, err)
		return page
	}
	noted := s.link(t, recipient("message", "Well done!"), recipient("locale", "sv-SE"), recipient("externalRecipientId", "player-7"))
	t.Run("the label is the name on the claim page", func(t *testing.T) { require.Equal(t, markedName, page(noted).GetLabel()) })
	t.Run("the message stands on the claim page", func(t *testing.T) { require.Equal(t, "Well done!", page(noted).GetMessage()) })
	t.Run("the locale is one of the tenant's or en-US", func(t *testing.T) {
		for _, locale := range []string{"en-US", "sv-SE", "de-DE"} {
			require.Equal(t, locale, page(s.link(t, recipient("locale", locale))).GetLocale())
		}
	})
	t.Run("the locale is en-US unless sent", func(t *testing.T) { require.Equal(t, "en-US", page(s.link(t)).GetLocale()) })
	t.Run("externalRecipientId is carried onto the claimed order", func(t *testing.T) {
		require.Equal(t, "player-7", s.read(t, "/orders/"+s.claim(t, noted)["orderId"].(string))["externalRecipientId"])
	})
	twice := []any{map[string]any{"label": "Ann", "email": "ann@example.org"}, map[string]any{"label": "Bo", "email": "ANN@example.org"}}
	t.Run("an e-mail is unique within a batch", func(t *testing.T) {
		made := results(t, s.post(t, s.key, batches, s.batchOf(t, with("recipients", twice))))
		require.Equal(t, []string{"CREATED", "REJECTED"}, []string{made[0].Outcome, made[1].Outcome})
		s.link(t, recipient("email", "ann@example.org"))
	})
	t.Run("the manager is an active member of the team", func(t *testing.T) {
		require.Equal(t, s.coordinator.GetId(), s.linkFile(t, s.link(t, recipient("managerEmail", shopManager))).GetManagerId())
	})
	s.promisesOfRejections(t, twice)
}

func (s *shop) promisesOfRejections(t *testing.T, twice []any) {
	answers := func(fieldID, member string, value any) change {
		return recipient("customFields", []any{map[string]any{"fieldId": fieldID, member: value}})
	}
	t.Run("a label that is missing or long says required or too_long", func(t *testing.T) {
		s.reject(t, "label required", with("recipients", []any{map[string]any{}}))
		s.reject(t, "label required", recipient("label", " "))
		s.reject(t, "label too_long", recipient("label", fresh(256)))
	})
	t.Run("an e-mail says invalid, too_long or duplicate", func(t *testing.T) {
		s.reject(t, "email invalid", recipient("email", "ann@"))
		s.reject(t, "email too_long", recipient("email", address(256)))
		made := results(t, s.post(t, s.key, batches, s.batchOf(t, with("recipients", twice))))
		require.Equal(t, "email duplicate", made[1].Errors[0].Field+" "+made[1].Errors[0].Code)
	})
	t.Run("a long message or externalRecipientId says too_long", func(t *testing.T) {
		s.reject(t, "message too_long", recipient("message", fresh(256)))
		s.reject(t, "externalRecipientId too_long", recipient("externalRecipientId", fresh(129)))
	})
	t.Run("a locale that is not enabled says not_enabled", func(t *testing.T) { s.reject(t, "locale not_enabled", recipient("locale", "fr-FR")) })
	t.Run("a fieldId that is no UUID is invalid by its index", func(t *testing.T) {
		s.reject(t, "customFields[0].fieldId invalid", answers("x", "textValue", "x"))
	})
	t.Run("an unknown manager says manager_not_found", func(t *testing.T) {
		for _, email := range []string{shopLeaver, "nobody@conformance.example"} {
			s.reject(t, "managerEmail manager_not_found", recipient("managerEmail", email))
		}
	})
	t.Run("an answer to an unknown field is ignored in a batch", func(t *testing.T) { s.link(t, answers(uuid.NewString(), "textValue", "x")) })
	t.Run("a required field without answer, or an answer that does not fit, is invalid on customFields", func(t *testing.T) {
		s.reject(t, "customFields invalid", answers(s.choice, "textValue", "Funeral"))
		s.putField(t, 3, &tenantsv1.CustomField{
			Id: uuid.NewString(), Label: "Cost centre", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT, Required: true,
		})
		s.reject(t, "customFields invalid")
	})
}
