package seal_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func reader(t *testing.T, keys seal.EventKeys) (*seal.EventReader, *telemetrytest.Record) {
	t.Helper()
	tel := telemetrytest.New()
	r, err := seal.NewEventReader(keys, tel.Telemetry)
	require.NoError(t, err)
	return r, tel
}

func newRef() seal.EventRef {
	return seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}
}

func message(t *testing.T, body string) []byte {
	t.Helper()
	data, err := restjson.Marshal(&ordersv1.OrderMessagePosted{
		OrderId: uuid.NewString(), ExternalOrderId: new(`"body":"of the order"`),
		Message: &ordersv1.OrderMessage{Id: uuid.NewString(), Author: &ordersv1.MessageAuthor{Name: "Ann"}, Body: body},
	})
	require.NoError(t, err)
	return data
}

func TestASealedEventOpensToTheSameBytes(t *testing.T) {
	t.Parallel()
	w := sealtest.Writer(t, sealtest.Keys("a"))
	r, _ := reader(t, sealtest.Keys("a"))
	for _, body := range []string{
		"", "Hello", `a "quoted" \ text`, `\`, `"}`, `{"$sealed":"AAAA"}`, "line\nbreak", "<&>\u2028 åäö 🎁", strings.Repeat("x", 4000),
	} {
		t.Run(body[:min(len(body), 20)], func(t *testing.T) {
			t.Parallel()
			ref, plain := newRef(), message(t, body)
			sealed, err := w.Seal(ref, plain, seal.MessageBody)
			require.NoError(t, err)
			require.NotEqual(t, plain, sealed)
			if len(body) > 10 {
				require.NotContains(t, string(sealed), body)
			}
			opened, err := r.Open(t.Context(), ref, sealed)
			require.NoError(t, err)
			require.Equal(t, string(plain), string(opened))

			envelope, err := restjson.Marshal(&eventsv1.Event{Id: ref.EventID, Data: sealed})
			require.NoError(t, err)
			want, err := restjson.Marshal(&eventsv1.Event{Id: ref.EventID, Data: plain})
			require.NoError(t, err)
			opened, err = r.Open(t.Context(), ref, envelope)
			require.NoError(t, err)
			require.Equal(t, string(want), string(opened))
		})
	}
	t.Run("a claim URL", func(t *testing.T) {
		t.Parallel()
		ref := newRef()
		plain, err := restjson.Marshal(&linksv1.PersonalLink{Id: ref.EventID, ClaimUrl: "https://gifts.example.com/c/a-token"})
		require.NoError(t, err)
		sealed, err := w.Seal(ref, plain, seal.ClaimURL)
		require.NoError(t, err)
		require.NotContains(t, string(sealed), "a-token")
		opened, err := r.Open(t.Context(), ref, sealed)
		require.NoError(t, err)
		require.Equal(t, string(plain), string(opened))
	})
}

func TestAValueOpensOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	w := sealtest.Writer(t, sealtest.Keys("a"))
	r, _ := reader(t, sealtest.Keys("a"))
	ref := newRef()
	sealed, err := w.Seal(ref, message(t, "Hello"), seal.MessageBody)
	require.NoError(t, err)
	for name, elsewhere := range map[string]seal.EventRef{
		"of another tenant": {TenantID: uuid.NewString(), EventID: ref.EventID},
		"of another event":  {TenantID: ref.TenantID, EventID: uuid.NewString()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Open(t.Context(), elsewhere, sealed)
			require.ErrorIs(t, err, seal.ErrEventUnreadable)
			require.ErrorIs(t, err, seal.ErrBroken)
		})
	}
	t.Run("in another member", func(t *testing.T) {
		t.Parallel()
		moved := strings.Replace(string(sealed), `"body":{`, `"claimUrl":{`, 1)
		_, err := r.Open(t.Context(), ref, []byte(moved))
		require.ErrorIs(t, err, seal.ErrBroken)
	})
	t.Run("with ids in upper case", func(t *testing.T) {
		t.Parallel()
		upper := seal.EventRef{TenantID: strings.ToUpper(ref.TenantID), EventID: strings.ToUpper(ref.EventID)}
		_, err := r.Open(t.Context(), upper, sealed)
		require.NoError(t, err)
	})
}

func TestEventsWithoutSealedMembersPassUnchanged(t *testing.T) {
	t.Parallel()
	r, _ := reader(t, sealtest.Keys("a"))
	for name, data := range map[string]string{
		"plain":                          `{"claimUrl":"https://x/c/y"}`,
		"spaces":                         `{"id":  "spaces stay"}`,
		"a variation named like a seal":  `{"items":[{"variations":{"$sealed":"AAAA"}}]}`,
		"a text that looks like a value": `{"text":"\"body\":{\"$sealed\":\"AAAA\"}"}`,
		"empty":                          ``,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened, err := r.Open(t.Context(), newRef(), []byte(data))
			require.NoError(t, err)
			require.Equal(t, data, string(opened))
			opened, err = (*seal.EventReader)(nil).Open(t.Context(), newRef(), []byte(data))
			require.NoError(t, err)
			require.Equal(t, data, string(opened))
		})
	}
}

func TestEventsThatDoNotOpenAreCountedByCause(t *testing.T) {
	t.Parallel()
	ref := newRef()
	sealed, err := sealtest.Writer(t, sealtest.Keys("b")).Seal(ref, message(t, "Hello"), seal.MessageBody)
	require.NoError(t, err)

	r, tel := reader(t, sealtest.Keys("a"))
	_, err = r.Open(t.Context(), ref, sealed)
	require.ErrorIs(t, err, seal.ErrEventUnreadable)
	require.ErrorIs(t, err, seal.ErrNoKey)
	_, err = r.Open(t.Context(), ref, []byte(`{"body":{"$sealed":"%"}}`))
	require.ErrorIs(t, err, seal.ErrBroken)
	require.Equal(t, map[string]float64{"cause=missing_key": 1, "cause=broken": 1}, tel.Values(t, "gifting.events.unreadable"))

	_, err = (*seal.EventReader)(nil).Open(t.Context(), ref, sealed)
	require.ErrorIs(t, err, seal.ErrEventUnreadable, "a reader without keys does not pass sealed values on")

	rotated, _ := reader(t, sealtest.Keys("a", "b"))
	opened, err := rotated.Open(t.Context(), ref, sealed)
	require.NoError(t, err)
	require.Contains(t, string(opened), `"body":"Hello"`)
}

func TestAnEventWithoutItsMemberIsRefused(t *testing.T) {
	t.Parallel()
	w := sealtest.Writer(t, sealtest.Keys("a"))
	for _, data := range []string{`{}`, `{"body":null}`, `{"body":`, `{"body":"x`, `{"text":"\"body\":"}`} {
		_, err := w.Seal(newRef(), []byte(data), seal.MessageBody)
		require.Error(t, err, data)
	}
}

func TestABadRingOfEventsIsRefused(t *testing.T) {
	t.Parallel()
	require.Error(t, seal.EventKeys{Ring: "k1:short"}.Validate())
	require.NoError(t, sealtest.Keys("a").Validate())
	_, err := seal.NewEventReader(seal.EventKeys{}, telemetrytest.New().Telemetry)
	require.ErrorIs(t, err, seal.ErrRing)
}
