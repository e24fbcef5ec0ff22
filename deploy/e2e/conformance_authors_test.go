package e2e_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// promisesOfAuthors has everybody who can write a message do so.
func (s *shop) promisesOfAuthors(t *testing.T, orderID string) {
	path := "/orders/" + orderID + "/messages"
	own := s.post(t, s.key, path, `{"body": "Of the key."}`)
	require.Equal(t, http.StatusCreated, own.status, own.body)
	client := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: uuid.NewString(), Name: "Cleo"}
	system := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
	for _, author := range []*commonv1.Actor{s.member, client, clerk, system} {
		s.write(t, orderID, author, "Of another.")
	}
	authors := map[any]map[string]any{}
	messages := s.messages(t, s.key, orderID)
	for _, message := range messages {
		author, _ := message["author"].(map[string]any)
		authors[author["kind"]] = author
	}
	t.Run("a message has id, author, body and time", func(t *testing.T) {
		first := messages[slices.IndexFunc(messages, func(m map[string]any) bool { return m["id"] == own.object(t)["id"] })]
		require.ElementsMatch(t, []string{"id", "author", "body", "createdAt"}, namesOf(first))
		require.NoError(t, uuid.Validate(idOf(first)))
		require.Equal(t, "Of the key.", first["body"])
		require.Regexp(t, instant, first["createdAt"])
	})
	operatorsName, _ := authors["BACKOFFICE_ACCOUNT"]["name"].(string)
	for _, c := range []struct{ promise, kind, name string }{
		{"a key's message is signed API_KEY with the key's name", "API_KEY", "Conformance key"},
		{"the team's message is signed TENANT_ACCOUNT with the person's name", "TENANT_ACCOUNT", "Mia"},
		{"a tenant's client signs TENANT_CLIENT", "TENANT_CLIENT", "Cleo"},
		{"what nobody wrote is signed SYSTEM", "SYSTEM", operatorsName},
	} {
		t.Run(c.promise, func(t *testing.T) { require.Equal(t, c.name, authors[c.kind]["name"]) })
	}
	t.Run("the operator's message is signed BACKOFFICE_ACCOUNT in the operator's name", func(t *testing.T) {
		require.NotEmpty(t, operatorsName)
		require.NotEqual(t, clerk.GetName(), operatorsName)
	})
}

// write posts a person's message.
func (s *shop) write(t *testing.T, orderID string, author *commonv1.Actor, body string) {
	t.Helper()
	_, err := s.orderOperations(t).PostMessageAs(t.Context(), &ordersv1.PostMessageAsRequest{
		Actor: author, TenantId: s.tenant, OrderId: orderID, MessageId: uuid.NewString(), Body: body,
	})
	require.NoError(t, err)
}
