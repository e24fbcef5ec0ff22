package conformance_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The texts of an order by what they may hold.
var (
	requiredLines = []string{
		"externalOrderId", "client.name", "recipient.name", "recipient.address.street", "recipient.address.city",
		"recipient.address.postalCode",
	}
	optionalLines = []string{"externalRecipientId", "externalCampaignRef", "externalActionRef"}
	orderComments = []string{"courierComment", "additionalDetails"}
	orderEmails   = []string{"client.email", "recipient.email"}
)

// in sets the same text at all paths.
func in(text string, paths ...string) change {
	return func(r record) {
		for _, path := range paths {
			with(path, text)(r)
		}
	}
}

// allInvalid checks that an order with the text has the code at each path.
func (f *fixture) allInvalid(t *testing.T, code, text string, paths ...string) {
	t.Helper()
	var violations []string
	for _, path := range paths {
		violations = append(violations, path+" "+code)
	}
	f.Post(t, f.key, "/orders", f.body(t, in(text, paths...))).Invalid(t, violations...)
}

// rejectAll checks that recipients with the member are all rejected with the code.
func (f *fixture) rejectAll(t *testing.T, code, member string, values ...string) {
	t.Helper()
	var recipients []any
	for _, value := range values {
		one := record{"label": "Ann"}
		one[member] = value
		recipients = append(recipients, one)
	}
	made := results(t, f.Send(t, f.postCall(batches, f.batchOf(t, with("recipients", recipients)))))
	require.Len(t, made, len(values))
	for i, m := range made {
		require.Equal(t, []string{member + " " + code}, m.violations(), "%q", values[i])
	}
}

func bodyWith(t *testing.T, member, text string) string {
	t.Helper()
	body, err := json.Marshal(record{member: text})
	require.NoError(t, err)
	return string(body)
}

func (f *fixture) testTexts(t *testing.T) {
	order := "/orders/" + idOf(f.place(t))
	requirement(t, "CHO-85", func(t *testing.T) {
		blanks := []string{
			"\u200b", "\u2060", "\ufeff", "\u00ad", "\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\U000e0041", "\u202e", "\r\n",
			" \u200e\t",
		}
		for _, blank := range blanks {
			f.allInvalid(t, "required", blank, requiredLines...)
			f.Post(t, f.key, order+"/messages", bodyWith(t, "body", blank)).Invalid(t, "body required")
		}
		f.rejectAll(t, "required", "label", blanks...)
		optional := slices.Concat(optionalLines, orderComments, orderEmails,
			[]string{"managerEmail", "campaignId", "customization.details"})
		// The call is not validated: in the OpenAPI document these members have formats and lengths.
		placed := f.Send(t, f.postCall("/orders", f.body(t, with("customization", record{}),
			in(strings.Repeat("\u200b", 5000), optional...))))
		require.Equal(t, http.StatusCreated, placed.Status, placed.Body)
		requireNull(t, placed.Object(t), optionalLines...)
		details := f.readAsOperator(t, placed.Object(t)).GetDetails()
		require.Empty(t, details.GetCourierComment()+details.GetAdditionalDetails()+details.GetCustomization())
		require.Empty(t, details.GetClient().GetEmail()+details.GetRecipient().GetEmail())
	})
	requirement(t, "CHO-86", func(t *testing.T) {
		texts := []string{"a\nb", "a\r\n", "a\tb", "a\x1b[2J", "\x1f", "a\x7f", "a\u0085b", "a\u009bb", "\u202eba", "a\u202ab\u202c"}
		for _, text := range texts {
			f.allInvalid(t, "invalid", text, slices.Concat(requiredLines, optionalLines)...)
		}
		f.rejectAll(t, "invalid", "label", texts...)
		f.rejectAll(t, "invalid", "externalRecipientId", texts...)
		for _, name := range []string{"جاسم\u200cزاده", "👩\u200d👧", "\u200eAnn\u200f", "\u2067אן\u2069"} {
			placed := f.place(t, in(name, "recipient.name", "externalRecipientId"))
			require.Equal(t, name, placed["externalRecipientId"])
			require.Equal(t, name, f.readAsOperator(t, placed).GetDetails().GetRecipient().GetName())
		}
	})
	requirement(t, "CHO-87", func(t *testing.T) {
		const lines = "Hi,\r\n\n\t- Ann\u2028\u202e."
		require.Equal(t, http.StatusCreated, f.Post(t, f.key, order+"/messages", bodyWith(t, "body", lines)).Status)
		placed := f.place(t, in(lines, "courierComment", "additionalDetails"))
		require.Equal(t, lines, f.readAsOperator(t, placed).GetDetails().GetCourierComment())
		require.Equal(t, lines, f.page(t, f.link(t, recipient("message", lines))).GetMessage())
		texts := []string{"a\x1b[2J", "\x1f", "a\vb", "a\f.", "a\x7f", "a\u0085b", "a\u009bb"}
		for _, text := range texts {
			f.Post(t, f.key, order+"/messages", bodyWith(t, "body", text)).Invalid(t, "body invalid")
			f.Post(t, f.key, order+":cancel", bodyWith(t, "reason", text)).Invalid(t, "reason invalid")
			f.allInvalid(t, "invalid", text, orderComments...)
		}
		f.rejectAll(t, "invalid", "message", texts...)
	})
	requirement(t, "CHO-88", func(t *testing.T) {
		emails := []string{
			"\u200bann@example.org", "ann@example.org\u200b", "\u202eann@example.org", "ann@-example.org", "ann@example-.org", "ann@a..org",
			strings.Repeat("a", 65) + "@example.org",
		}
		for _, email := range emails {
			f.allInvalid(t, "invalid", email, orderEmails...)
		}
		f.rejectAll(t, "invalid", "email", emails...)
		made := results(t, f.Send(t, f.postCall(batches, f.batchOf(t, with("recipients", []any{
			record{"label": "Ann", "email": "x@bücher.example"}, record{"label": "Bo", "email": "X@xn--bcher-kva.example"},
		})))))
		require.Equal(t, "CREATED", made[0].Outcome)
		require.Equal(t, []string{"email duplicate"}, made[1].violations())
	})
}
