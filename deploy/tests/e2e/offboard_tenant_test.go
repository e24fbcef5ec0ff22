package e2e_test

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// erasedSoon is longer than the platform takes to begin an erasure, which it looks for every minute.
const erasedSoon = 3 * time.Minute

// leaving is a tenant that leaves, and another one that has equal records and stays.
type leaving struct {
	tenant, other string
	// rows of the other one before the erasure, by table.
	rows map[string]int
}

func (s stack) offboardings(t *testing.T) tenantsv1.OffboardingOperationsServiceClient {
	t.Helper()
	return tenantsv1.NewOffboardingOperationsServiceClient(s.Conn(t, "GIFTING_GRPC_TENANTS"))
}

// internalNote is the text of a note that only the service operator may see.
const internalNote = "The last parcel came back"

// newTenant makes a tenant with an endpoint, completed orders, one of them with an internal note, and an open link, whose token it
// returns.
func (s stack) newTenant(t *testing.T) (tenant, key, token string) {
	t.Helper()
	tenant = uuid.NewString()
	_, err := s.Tenants(t).PutTenant(t.Context(), tenantRequest(tenant))
	require.NoError(t, err)
	brand := uuid.NewString()
	_, err = s.Tenants(t).PutBrand(t.Context(), &tenantsv1.PutBrandRequest{
		Actor: clerk, TenantId: tenant, Brand: &tenantsv1.Brand{Id: brand, Name: "Leaving", Slug: "leaving"},
	})
	require.NoError(t, err)
	address := s.Env["GIFTING_INBOX_URL"] + "/" + tenant
	key = s.CreateKey(t, &tenantsv1.CreateKeyRequest{
		Actor: clerk, TenantId: tenant, Name: "Leaving", Scopes: harness.AllScopes(), AllBrands: true, WebhookUrl: &address,
	}).GetApiKey()
	_, ordered := s.claimedBy(t, key, brand, "player-of-leaving")
	placed, _ := s.Post(t, key, "/orders", s.Order(t, func(order map[string]any) {
		order["brandId"], order["externalOrderId"] = brand, "leaving"
	})).OK(t)["id"].(string)
	_, err = s.Orders(t).AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
		Actor: clerk, TenantId: tenant, OrderId: placed, MessageId: uuid.NewString(), Body: internalNote,
	})
	require.NoError(t, err)
	for _, order := range []string{ordered, placed} {
		s.deliver(t, tenant, order)
		event := s.Await(t, key, harness.Slow, order, `"status":"COMPLETED"`)
		require.Eventually(t, func() bool {
			arrived := s.Deliveries(t, "/"+tenant)
			return slices.ContainsFunc(arrived, func(d inbox.Delivery) bool { return d.Headers["Service-Event-Id"] == event.ID })
		}, harness.Slow, 50*time.Millisecond)
	}
	_, token = s.linkFor(t, key, brand, "player-of-leaving")
	return tenant, key, token
}

func tenantRequest(id string) *tenantsv1.PutTenantRequest {
	return &tenantsv1.PutTenantRequest{
		Actor: clerk, Id: id, Name: "Leaving", Locales: []string{"en-US"}, Currency: "EUR", ApiAccess: true,
	}
}

// testOffboarding exports and disables one of two tenants with equal records. The erasure takes time: testErasedTenant waits
// for it.
func (s stack) testOffboarding(t *testing.T) *leaving {
	tenant, key, token := s.newTenant(t)
	other, otherKey, _ := s.newTenant(t)
	client := s.offboardings(t)
	var lines strings.Builder
	export := &tenantsv1.ExportTenantRequest{Actor: clerk, TenantId: tenant}
	for first := true; first || export.After != nil; first = false {
		page, err := client.ExportTenant(t.Context(), export)
		require.NoError(t, err)
		lines.Write(page.GetLines())
		export.After = page.NextCursor
	}
	for _, part := range []string{
		`"service":"orders","table":"orders"`, `"service":"personal-links","table":"links"`, `"service":"events","table":"feed"`,
	} {
		require.Contains(t, lines.String(), part)
	}
	require.Equal(t, 1, strings.Count(lines.String(), harness.MarkedStreet), "of the order that the tenant placed, not of the claim")
	require.NotContains(t, lines.String(), internalNote)
	require.NotContains(t, lines.String(), other)

	require.Equal(t, http.StatusOK, s.Get(t, key, "/me").Status)
	_, err := client.OffboardTenant(t.Context(), &tenantsv1.OffboardTenantRequest{Actor: clerk, TenantId: tenant})
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, s.Get(t, key, "/me").Status, "from the next request on")
	claimed, err := s.GiftSite(t).ClaimLink(t.Context(), s.claimOf(token))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, claimed.GetState())
	require.Equal(t, http.StatusOK, s.Get(t, otherKey, "/me").Status)

	gone := &leaving{tenant: tenant, other: other, rows: s.rowsOf(t, other)}
	require.NotEmpty(t, gone.rows)
	// What is in flight would delay the erasure by an hour.
	for _, database := range []string{"orders", "links"} {
		db := s.connect(t, database)
		require.Eventually(t, func() bool {
			var waiting int
			err := db.QueryRow(t.Context(),
				`SELECT count(*) FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`, tenant).Scan(&waiting)
			return err == nil && waiting == 0
		}, erasedSoon, 100*time.Millisecond, database)
	}
	// The shortest grace period is a day.
	_, err = s.connect(t, "tenants").Exec(t.Context(),
		`UPDATE offboardings SET erase_after = now() - interval '1 minute' WHERE tenant_id = $1`, tenant)
	require.NoError(t, err)
	return gone
}

// testErasedTenant checks that nothing of the tenant is left, and that the report says so.
func (s stack) testErasedTenant(t *testing.T, gone *leaving) {
	require.NotNil(t, gone)
	client := s.offboardings(t)
	var o *tenantsv1.Offboarding
	require.Eventually(t, func() bool {
		resp, err := client.GetOffboarding(t.Context(), &tenantsv1.GetOffboardingRequest{Actor: clerk, TenantId: gone.tenant})
		o = resp.GetOffboarding()
		return err == nil && o.GetState() == tenantsv1.OffboardingState_OFFBOARDING_STATE_ERASED
	}, erasedSoon, time.Second)
	before, kept := map[string]int64{}, map[string]bool{}
	for _, table := range o.GetReport() {
		before[table.GetService()+"."+table.GetTable()] = table.GetRowsBefore()
		kept[table.GetTable()] = table.GetKept() != ""
		require.True(t, table.RowsAfter != nil && (table.GetKept() != "" || table.GetRowsAfter() == 0), "%v", table)
	}
	for _, table := range []string{
		"tenants.tenants", "tenants.brands", "tenants.api_keys", "orders.orders", "orders.idempotency_answers", "personal-links.links",
		"personal-links.idempotency_answers", "events.feed", "webhook.events", "webhook.deliveries", "webhook.attempts",
	} {
		require.Positive(t, before[table], table)
	}
	for table := range s.rowsOf(t, gone.tenant) {
		_, name, _ := strings.Cut(table, ".")
		require.True(t, kept[name], "%s has rows of the tenant, and the report does not say why", table)
	}
	rows := s.rowsOf(t, gone.other)
	for table, n := range gone.rows {
		if strings.HasSuffix(table, ".outbox") {
			continue // Its rows go away by themselves.
		}
		require.GreaterOrEqual(t, rows[table], n, "%s of the other tenant", table)
	}
	_, err := s.Tenants(t).PutTenant(t.Context(), tenantRequest(gone.tenant))
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "its id is never used again: %v", err)
}

// rowsOf counts the rows of all databases that have the text in any column, by table. Rows that have one of the others are left
// out.
func (s stack) rowsOf(t *testing.T, text string, others ...string) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for _, database := range local.Databases(s.Config.Name) {
		name := strings.TrimPrefix(database, s.Config.Name+"_")
		conn := s.connect(t, name)
		found, err := conn.Query(t.Context(), `SELECT relname::text FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`)
		require.NoError(t, err)
		tables, err := pgx.CollectRows(found, pgx.RowTo[string])
		require.NoError(t, err)
		for _, table := range tables {
			var n int
			counting := "SELECT count(*) FROM " + pgx.Identifier{table}.Sanitize() + ` t
WHERE (strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0)
AND NOT EXISTS (SELECT FROM unnest($3::text[]) other WHERE strpos(t::text, other) > 0)`
			binary := hex.EncodeToString([]byte(text)) // In the text of a bytea.
			require.NoError(t, conn.QueryRow(t.Context(), counting, text, binary, others).Scan(&n))
			if n > 0 {
				rows[name+"."+table] = n
			}
		}
	}
	return rows
}
