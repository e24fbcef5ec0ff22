package conformance_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

// testLabels is about what a batch says of a recipient.
func (f *fixture) testLabels(t *testing.T) {
	for _, field := range []struct {
		id, name string
		limit    int
	}{
		{"BAT-11", "label", 255},
		{"BAT-13", "externalRecipientId", 128},
		{"BAT-17", "message", 255},
		{"BAT-15", "email", 255},
	} {
		requirement(t, field.id, func(t *testing.T) {
			text := freshText
			if field.name == "email" {
				text = address
			}
			f.link(t, recipient(field.name, text(field.limit)))
			f.reject(t, field.name+" too_long", recipient(field.name, text(field.limit+1)))
		})
	}
	noted := f.link(t, recipient("message", "Well done!"), recipient("locale", "sv-SE"), recipient("externalRecipientId", "player-7"))
	requirement(t, "BAT-12", func(t *testing.T) { require.Equal(t, harness.MarkedName, f.page(t, noted).GetLabel()) })
	requirement(t, "BAT-18", func(t *testing.T) { require.Equal(t, "Well done!", f.page(t, noted).GetMessage()) })
	requirement(t, "BAT-19", func(t *testing.T) {
		for _, locale := range []string{"en-US", "sv-SE", "de-DE"} {
			require.Equal(t, locale, f.page(t, f.link(t, recipient("locale", locale))).GetLocale())
		}
	})
	requirement(t, "BAT-20", func(t *testing.T) { require.Equal(t, "en-US", f.page(t, f.link(t)).GetLocale()) })
	requirement(t, "BAT-14", func(t *testing.T) {
		require.Equal(t, "player-7", f.orderOf(t, f.claim(t, noted))["externalRecipientId"])
	})
	twice := []any{record{"label": "Ann", "email": "ann@example.org"}, record{"label": "Bo", "email": "ANN@example.org"}}
	requirement(t, "BAT-16", func(t *testing.T) {
		made := results(t, f.Post(t, f.key, batches, f.batchOf(t, with("recipients", twice))))
		require.Equal(t, []string{"CREATED", "REJECTED"}, []string{made[0].Outcome, made[1].Outcome})
		f.link(t, recipient("email", "ann@example.org"))
	})
	requirement(t, "BAT-22", func(t *testing.T) {
		require.Equal(t, f.coordinator.GetId(), f.readLinkAsTeam(t, f.link(t, recipient("managerEmail", managerEmail))).GetManagerId())
	})
	requirement(t, "CHO-47", func(t *testing.T) {
		first := record{"label": " ", "email": "eve@example.org"}
		made := results(t, f.Send(t, f.postCall(batches, f.batchOf(t, with("recipients", []any{first, record{"label": "Eve", "email": "Eve@example.org"}})))))
		require.Equal(t, [][]string{{"label required"}, {"email duplicate"}}, [][]string{made[0].violations(), made[1].violations()})
	})
	f.testRejections(t, twice)
}

func (f *fixture) testRejections(t *testing.T, twice []any) {
	answers := func(fieldID, member string, value any) change {
		return recipient("customFields", []any{record{"fieldId": fieldID, member: value}})
	}
	requirement(t, "BAT-27", func(t *testing.T) {
		f.reject(t, "label required", with("recipients", []any{record{}}))
		f.reject(t, "label required", recipient("label", " "))
		f.reject(t, "label too_long", recipient("label", freshText(256)))
	})
	requirement(t, "BAT-28", func(t *testing.T) {
		f.reject(t, "email invalid", recipient("email", "ann@"))
		f.reject(t, "email too_long", recipient("email", address(256)))
		made := results(t, f.Post(t, f.key, batches, f.batchOf(t, with("recipients", twice))))
		require.Equal(t, []string{"email duplicate"}, made[1].violations())
	})
	requirement(t, "BAT-29", func(t *testing.T) {
		f.reject(t, "message too_long", recipient("message", freshText(256)))
		f.reject(t, "externalRecipientId too_long", recipient("externalRecipientId", freshText(129)))
	})
	requirement(t, "BAT-30", func(t *testing.T) { f.reject(t, "locale not_enabled", recipient("locale", "fr-FR")) })
	requirement(t, "BAT-31", func(t *testing.T) { f.reject(t, "customFields[0].fieldId invalid", answers("x", "textValue", "x")) })
	requirement(t, "BAT-33", func(t *testing.T) {
		for _, email := range []string{formerMember, "nobody@conformance.example"} {
			f.reject(t, "managerEmail manager_not_found", recipient("managerEmail", email))
		}
	})
	requirement(t, "BAT-21", func(t *testing.T) { f.link(t, answers(uuid.NewString(), "textValue", "x")) })
	requirement(t, "BAT-32", func(t *testing.T) {
		f.reject(t, "customFields invalid", answers(f.choice, "textValue", "Funeral"))
		f.requireField(t)
		f.reject(t, "customFields invalid")
	})
}
