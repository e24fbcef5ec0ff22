package server_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/server"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// everyRow returns all rows of all tables as text, with bytes in hex.
func (f *fixture) everyRow(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"links", "link_batches", "link_audit", "form_drafts", "outbox", "idempotency_answers"} {
		var text string
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT coalesce(string_agg(x::text, E'\n'), '') FROM "+table+" x").Scan(&text))
		all.WriteString(text)
	}
	return all.String()
}

// requireNothingPersonal searches what is stored, logged and answered for the texts of claims and recipients.
func (f *fixture) requireNothingPersonal(t *testing.T, others ...string) {
	t.Helper()
	everything := strings.ToLower(strings.Join(append(others, f.everyRow(t), f.logged.String()), "\n"))
	for _, secret := range []string{"marked", "46701234567", "70 123 45 67"} {
		require.NotContains(t, everything, secret)
		require.NotContains(t, everything, hex.EncodeToString([]byte(secret)))
		require.NotContains(t, everything, hex.EncodeToString([]byte(strings.ToUpper(secret[:1])+secret[1:])))
	}
}

func TestPersonalDataAndTokensAreNowhereInClear(t *testing.T) {
	t.Parallel()
	f := setup(t)
	field := newID()
	f.changeTenant(func(s *tenantsv1.Tenant) {
		s.CustomFields = []*tenantsv1.CustomField{{Id: field, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}}
	})
	recipient := &linksv1.PersonalLinkRecipient{
		Label: "Marked Label", Email: new("marked@example.com"), Message: new("Marked message"),
		CustomFields: []*linksv1.PersonalLinkAnswer{{FieldId: field, TextValue: new("Marked answer")}},
	}
	rejected := &linksv1.PersonalLinkRecipient{Label: "Marked Label", Email: new("marked")}
	results := f.create(t, f.toCampaign(recipient, rejected, &linksv1.PersonalLinkRecipient{Label: "Marked Label"}))
	require.NotContains(t, strings.ToLower(results[1].String()), "marked")
	claimed, cancelled := results[0].GetLink(), results[2].GetLink()

	var answers []string
	require.NotNil(t, f.save(t, draftOf(cancelled, aNonce)).GetDraft())
	everything := f.everyRow(t)
	for _, refusal := range []error{problem.Unavailable(), problem.New(problem.OutOfStock, "none"), nil} {
		f.orders.Refuse(refusal)
		resp, err := f.site.ClaimLink(t.Context(), claimOf(claimed))
		answers = append(answers, fmt.Sprint(resp, err))
	}
	f.cancel(t, "c", cancelled)

	f.requireNothingPersonal(t, append(answers, everything)...)
	t.Run("nothing holds tokens, events neither", func(t *testing.T) {
		require.NotZero(t, f.count(t, "outbox"))
		rows := f.everyRow(t) + f.logged.String() + strings.Join(answers, "")
		for _, l := range []*linksv1.PersonalLink{claimed, cancelled} {
			require.NotContains(t, rows, token(l))
			require.NotContains(t, rows, hex.EncodeToString([]byte(token(l))))
		}
	})
}

func TestReencryptedLinksOpenUnderTheNewKeyAlone(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	cancelled := f.newLink(t)
	f.cancel(t, "c", cancelled)
	newKey := "k2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("b", 32)))
	oldKey := "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32)))
	database := postgres.Config{URL: f.pool.Config().ConnString()}
	drafted := f.newLink(t)
	f.save(t, draftOf(drafted, aNonce))
	for _, table := range store.SealedColumns() {
		require.ErrorIs(t, seal.ReEncrypt(t.Context(), database, newKey, table, io.Discard), seal.ErrBroken)
		require.NoError(t, seal.ReEncrypt(t.Context(), database, newKey+","+oldKey, table, io.Discard))
	}

	ring, err := seal.ParseRing(newKey)
	require.NoError(t, err)
	reencrypted := store.New(f.pool, ring, nil)
	hash, _ := rules.HashToken(token(drafted))
	kept, err := reencrypted.Draft(t.Context(), hash, rules.HashNonce(aNonce))
	require.NoError(t, err)
	require.Equal(t, "Marked Street 1", kept.GetRecipient().GetStreet())
	link, err := reencrypted.Get(t.Context(), f.tenant, cancelled.GetId())
	require.NoError(t, err)
	require.Equal(t, cancelled.GetClaimUrl(), link.Record.GetClaimUrl())
	require.Equal(t, "Marked Ann", link.Details.Label)
	require.Equal(t, "Marked reason", *link.Reason)
}

func TestTheStoredAnswersNeedTheirKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	keys := func(text string) seal.CheckedRing {
		ring, err := seal.ParseRing(text)
		require.NoError(t, err)
		return seal.CheckedRingOf(ring, server.SealedAnswers())
	}
	const a, b = "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=", "YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI="
	require.NoError(t, sealtest.Ready(t, f.pool, keys("k2:"+b)))
	_, err := f.client.CreatePersonalLinks(f.post("c"), f.toCampaign(ann(), ann()))
	require.NoError(t, err)
	gone := f.toCampaign(ann())
	gone.CampaignId = new(newID())
	_, err = f.client.CreatePersonalLinks(f.post("p"), gone)
	require.Error(t, err, "a stored problem is not sealed")

	require.NoError(t, sealtest.Ready(t, f.pool, keys("k2:"+b+",k1:"+a)))
	err = sealtest.Ready(t, f.pool, keys("k2:"+b))
	require.ErrorIs(t, err, seal.ErrKeyMissing)
	require.ErrorContains(t, err, `idempotency_answers.answer has values sealed with key "k1"`)
	require.ErrorIs(t, sealtest.Ready(t, f.pool, keys("k1:"+b)), seal.ErrKeyWrong)

	_, err = f.pool.Exec(t.Context(), `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer)
SELECT key_id, idempotency_key || n, fingerprint, answer FROM idempotency_answers, generate_series(1, 10000) n`)
	require.NoError(t, err)
	require.Less(t, sealtest.RowsRead(t, f.pool, keys("k1:"+a), "idempotency_answers"), 100)
}

func TestReencryptedAnswersAreRepeatedUnderTheNewKeyAlone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	made, err := f.client.CreatePersonalLinks(f.post("c"), f.toCampaign(ann(), ann()))
	require.NoError(t, err)
	cancelled, err := f.client.CancelPersonalLink(f.post("x"), cancelOf(made.GetResults()[0].GetLink()))
	require.NoError(t, err)
	gone := f.toCampaign(ann())
	gone.CampaignId = new(newID())
	_, refused := f.client.CreatePersonalLinks(f.post("p"), gone)
	require.Error(t, refused)

	const oldKey, newKey = "k1:YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=", "k2:YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI="
	reencryptWith := func(keys string) error {
		ring, err := seal.ParseRing(keys)
		require.NoError(t, err)
		f.ring = ring
		return server.ReencryptAnswers(t.Context(), f.pool, ring, io.Discard)
	}
	require.ErrorIs(t, reencryptWith(newKey), seal.ErrBroken)
	require.NoError(t, reencryptWith(newKey+","+oldKey))
	require.NoError(t, reencryptWith(newKey), "nothing needs the old key")
	f.serve()
	madeAgain, err := f.client.CreatePersonalLinks(f.post("c"), f.toCampaign(ann(), ann()))
	require.NoError(t, err)
	require.True(t, proto.Equal(made, madeAgain))
	cancelledAgain, err := f.client.CancelPersonalLink(f.post("x"), cancelOf(made.GetResults()[0].GetLink()))
	require.NoError(t, err)
	require.True(t, proto.Equal(cancelled, cancelledAgain))
	_, refusedAgain := f.client.CreatePersonalLinks(f.post("p"), gone)
	require.Equal(t, refused.Error(), refusedAgain.Error())
}
