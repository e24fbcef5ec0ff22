package server_test

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// written gathers what is logged.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// everyRow gives all rows of all tables as text, in which bytes stand as hex.
func (b *bench) everyRow(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"links", "link_batches", "link_audit", "outbox", "idempotency_answers"} {
		var text string
		require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT coalesce(string_agg(x::text, E'\n'), '') FROM "+table+" x").Scan(&text))
		all.WriteString(text)
	}
	return all.String()
}

func TestPersonalDataAndTokensStandNowhereInClear(t *testing.T) {
	b := setup(t)
	log := &written{}
	b.saga.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	field := newID()
	b.directory.settings.Tenant.CustomFields = []*tenantsv1.CustomField{{Id: field, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}}
	recipient := &linksv1.PersonalLinkRecipient{
		Label: "Marked Label", Email: pointer("marked@example.com"), Message: pointer("Marked message"),
		CustomFields: []*linksv1.PersonalLinkAnswer{{FieldId: field, TextValue: pointer("Marked answer")}},
	}
	rejected := &linksv1.PersonalLinkRecipient{Label: "Marked Label", Email: pointer("marked")}
	results := b.create(t, b.toCampaign(recipient, rejected, &linksv1.PersonalLinkRecipient{Label: "Marked Label"}))
	require.NotContains(t, strings.ToLower(results[1].String()), "marked")
	claimed, cancelled := results[0].GetLink(), results[2].GetLink()

	var answers []string
	for _, fault := range []error{problem.Unavailable(), problem.New(problem.OutOfStock, "none"), nil} {
		b.orders.fault = fault
		resp, err := b.site.ClaimLink(t.Context(), claimOf(claimed))
		answers = append(answers, fmt.Sprint(resp, err))
	}
	_, err := b.client.CancelPersonalLink(b.post("c"), cancelOf(cancelled))
	require.NoError(t, err)

	everything := strings.ToLower(strings.Join(append(answers, b.everyRow(t), log.text.String()), "\n"))
	for _, secret := range []string{"marked", "46701234567", "70 123 45 67"} {
		require.NotContains(t, everything, secret)
		require.NotContains(t, everything, hex.EncodeToString([]byte(secret)))
		require.NotContains(t, everything, hex.EncodeToString([]byte(strings.ToUpper(secret[:1])+secret[1:])))
	}

	t.Run("of tokens, the events alone hold those of their links", func(t *testing.T) {
		_, err := b.pool.Exec(t.Context(), "DELETE FROM outbox")
		require.NoError(t, err)
		rows := b.everyRow(t) + log.text.String() + strings.Join(answers, "")
		for _, l := range []*linksv1.PersonalLink{claimed, cancelled} {
			require.NotContains(t, rows, token(l))
			require.NotContains(t, rows, hex.EncodeToString([]byte(token(l))))
		}
	})
}
