package faults_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutation is a bug of the kind that one of the invariants forbids. `make faults-mutations` builds the programs with it and
// demands that the checks find it.
type mutation struct {
	name    string
	breaks  invariant
	changes []replacement
}

// replacement changes one text of a source file. The old text must be there exactly once.
type replacement struct{ file, old, new string }

const (
	relaySource = "services/events/internal/relay/source.go"
	relayBatch  = "services/events/internal/relay/batch.go"
	appendFeed  = "services/events/internal/store/append.go"
	requestKey  = "pkg/idempotency/answer.go"
	getOrder    = "services/orders/internal/server/get_order.go"
	changeOrder = "services/orders/internal/store/change_order.go"
	placeOrder  = "services/orders/internal/store/place_order.go"
	readOrder   = "services/orders/internal/store/read.go"
	stockUnits  = "services/catalog/internal/store/reservations.go"
	paceRows    = "services/orders/internal/store/sandbox_pace.go"
	sendWebhook = "services/webhook/internal/webhookclient/client.go"
)

// slowRead makes the relay read its sources up to 200 ms apart.
var slowRead = []replacement{importsRand(relaySource), {relaySource, `if err := r.collect(s.pool.Query(ctx, readRows,`, `
	if s.name == "links" {
		time.Sleep(rand.N(200 * time.Millisecond))
	}
	if err := r.collect(s.pool.Query(ctx, readRows,`}}

// mutations has one bug of each class. The first is not a bug: a slow relay breaks no invariant.
var mutations = []mutation{
	{"slow", invariants, slowRead},
	{"no watermark", order, append([]replacement{
		{relayBatch, `b.watermark = now`, `b.watermark = now.Add(time.Hour)`},
	}, slowRead...)},
	{"lost event", lost, []replacement{importsRand(appendFeed), {
		appendFeed, `fresh = append(fresh, w.admit(b)...)`,
		`fresh = append(fresh, slices.DeleteFunc(w.admit(b), func(Change) bool { return rand.N(50) == 0 })...)`,
	}}},
	{"duplicate event", duplicate, []replacement{
		importsRand(changeOrder),
		{changeOrder, `outbox.Append(ctx, b, event)`, `outbox.Append(ctx, b, event)
			again, err := s.newEvent(before.TenantID, before.Record, originKeyID, change.Event)
			if err == nil && rand.N(20) == 0 {
				outbox.Append(ctx, b, again)
			}`},
	}},
	{"other request", effect, []replacement{importsRand(requestKey), {requestKey, `r := caller.RequestFrom(ctx)`, `
	r := caller.RequestFrom(ctx)
	if r.IdempotencyKey != "" && rand.N(20) == 0 {
		r.IdempotencyKey += "-other"
	}`}}},
	{"stale read", answers, []replacement{importsRand(getOrder), {
		getOrder,
		`return &ordersv1.GetOrderResponse{Order: order}, nil`, `
	if rand.N(5) == 0 {
		order.Version--
	}
	return &ordersv1.GetOrderResponse{Order: order}, nil`,
	}}},
	{"oversold stock", stock, []replacement{{
		stockUnits, `SET stock = stock + returned.units`,
		`SET stock = stock + returned.units + (random() < 0.5)::int`,
	}}},
	{"unsent webhook", delivery, []replacement{importsRand(sendWebhook), {sendWebhook, `resp, err := c.http.Do(req)`, `
	resp, err := &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, error(nil)
	if rand.N(50) > 0 {
		resp, err = c.http.Do(req)
	}`}}},
	{"eager step", effect, []replacement{{
		paceRows, `SET due_at = clock_timestamp() + make_interval(secs => every_seconds) WHERE`, `SET due_at = due_at WHERE`,
	}}},
	{"forgotten step", effect, []replacement{importsRand(placeOrder), {placeOrder, `queueAutoAdvance(b, o)`, `
		if rand.N(5) > 0 {
			queueAutoAdvance(b, o)
		}`}}},
	{"foreign order", leak, []replacement{
		{
			readOrder, "recordColumns.Select() + ` FROM orders WHERE tenant_id = $1 AND",
			"recordColumns.Select() + ` FROM orders WHERE $1::text <> '' AND",
		},
	}},
	{"personal data in an event", leak, []replacement{importsRand(placeOrder), {placeOrder, `outbox.Append(ctx, b, event)`, `
		if rand.N(20) == 0 {
			event.Data = fmt.Appendf(nil, "%s,\"recipientName\":%q}", event.Data[:len(event.Data)-1], o.Details.Recipient.Name)
		}
		outbox.Append(ctx, b, event)`}}},
}

// TestEveryMutationFitsTheSource fails if a change of the source breaks a mutation: its old text is gone, or the result does
// not compile.
func TestEveryMutationFitsTheSource(t *testing.T) {
	t.Parallel()
	all, seen, packages := []replacement{}, map[replacement]bool{}, map[string]bool{}
	var every [][]replacement
	for _, m := range slices.Concat(mutations, moveMutations) {
		every = append(every, m.changes)
	}
	for _, m := range disasterMutations {
		every = append(every, m.changes)
	}
	for _, m := range upgradeMutations {
		every = append(every, m.older, m.newer)
	}
	for _, changes := range every {
		overlay(t, changes)
		for _, c := range changes {
			if !seen[c] {
				all, seen[c], packages["./"+filepath.Dir(c.file)] = append(all, c), true, true
			}
		}
	}
	args := []string{"build", "-overlay", overlay(t, all)}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race") // With it, the build cache has the imported packages.
	}
	command := exec.CommandContext(t.Context(), "go", append(args, slices.Sorted(maps.Keys(packages))...)...)
	command.Dir = root(t)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func importsRand(file string) replacement {
	const list = "import (\n"
	return replacement{file, list, list + "\t\"math/rand/v2\"\n"}
}

// overlay makes the changes and returns the list of changed files that `go build -overlay` reads.
func overlay(t *testing.T, changes []replacement) string {
	t.Helper()
	sources := map[string]string{}
	for _, c := range changes {
		if sources[c.file] == "" {
			raw, err := os.ReadFile(filepath.Join(root(t), c.file))
			require.NoError(t, err)
			sources[c.file] = string(raw)
		}
		found := strings.Count(sources[c.file], c.old)
		require.Equal(t, 1, found, "%s must have this text exactly once; adapt the mutation: %s", c.file, c.old)
		sources[c.file] = strings.Replace(sources[c.file], c.old, c.new, 1)
	}
	return writeOverlay(t, sources)
}

// writeOverlay writes the texts of changed files and the list of them.
func writeOverlay(t *testing.T, sources map[string]string) string {
	t.Helper()
	dir, replaced := t.TempDir(), map[string]string{}
	for file, text := range sources {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		replaced[filepath.Join(root(t), file)] = path
	}
	raw, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	list := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(list, raw, 0o600))
	return list
}

// root is the folder of the workspace.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		require.NotEqual(t, filepath.Dir(dir), dir, "no go.work above")
		dir = filepath.Dir(dir)
	}
}
