package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// TestTheCommandsOfTheRunbooksRun runs the blocks of sh of each section of the runbooks with the shell functions for one machine.
// A section may need a state, such as a key that has leaked; see prepare.
func TestTheCommandsOfTheRunbooksRun(t *testing.T) {
	t.Parallel()
	s := operated{stack: stack{harness.Start(t)}}
	s.dir = s.likeRepository(t)
	require.NoError(t, programs.Build(t.Context(), filepath.Join(s.dir, ".local", "bin"), "", nil))
	s.key = s.DemoKey(t)
	id, _ := s.Post(t, s.key, "/orders", s.Order(t)).OK(t)["id"].(string)
	s.Await(t, s.key, harness.Slow, id)
	page, err := os.ReadFile("../../runbooks/README.md")
	require.NoError(t, err)
	functions := examplesIn(string(page))
	s.functions = strings.Replace(functions[len(functions)-1].script, "make build grpcurl\n", "", 1)
	ran := 0
	for _, path := range runbooks(t) {
		if filepath.Base(path) == "README.md" {
			continue
		}
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, strings.Count(string(page), "```sh"),
			len(examplesIn(string(page)))+strings.Count(string(page), "<!-- not run: "), path)
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		for section := range strings.SplitSeq(string(page), "\n## ") {
			if examples := examplesIn(section); len(examples) > 0 {
				ran += len(examples)
				title, _, _ := strings.Cut(section, "\n")
				t.Run(name+"/"+title, func(t *testing.T) { s.runSection(t, name, title, examples) })
			}
		}
	}
	require.NotZero(t, ran)
}

// operated is a platform on which runbooks are followed.
type operated struct {
	stack

	dir, functions, key string
}

// runSection runs the commands of a section. Each of them must succeed, not only the last of a block.
func (s operated) runSection(t *testing.T, page, section string, examples []example) {
	t.Helper()
	state := s.prepare(t, page, section)
	var variables strings.Builder
	for name, value := range state.variables {
		variables.WriteString("export " + name + "='" + value + "'\n")
	}
	script := []example{{script: variables.String() + s.functions}}
	for _, one := range examples {
		one.script = "(\nset -e\n" + state.adapt(one.script) + "\n)"
		script = append(script, one)
	}
	runExamples(t, s.withPrograms(t, state.programs), script)
	if state.check != nil {
		state.check(t)
	}
}

// state is what a section is about.
type state struct {
	// variables are those that the commands use, and programs change the environments in which commands of programs run.
	variables map[string]string
	programs  map[identity.Name]map[string]string
	// replace has texts of the section that are examples, and what they are here.
	replace []string
	check   func(t *testing.T)
}

// instant is an example of a time. The first of a line is the beginning of a time span, the second its end.
var instant = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func (p state) adapt(script string) string {
	now := time.Now()
	var adapted strings.Builder
	for line := range strings.Lines(strings.NewReplacer(p.replace...).Replace(script)) {
		times := []time.Time{now.Add(-time.Hour), now.Add(time.Second)}
		adapted.WriteString(instant.ReplaceAllStringFunc(line, func(string) string {
			next := times[0]
			times = times[1:]
			return next.UTC().Format(time.RFC3339)
		}))
	}
	return adapted.String()
}

// prepare brings the platform into the state of a section.
func (s operated) prepare(t *testing.T, page, section string) state {
	t.Helper()
	url := s.Env["GIFTING_INBOX_URL"] + "/operated"
	key := func(name string) *tenantsv1.CreateKeyResponse {
		return s.CreateKey(t, &tenantsv1.CreateKeyRequest{
			Actor: clerk, TenantId: seed.Direct, Name: name, Scopes: harness.AllScopes(), AllBrands: true, WebhookUrl: &url,
		})
	}
	leaked, replacement := key("Leaked"), key("Replacement")
	st := state{variables: map[string]string{
		"USER": "ann", "TENANT": seed.Direct, "ORDER_ID": uuid.NewString(),
		"KEY_ID": fmt.Sprint(leaked.GetKey().GetId()), "LEAKED_KEY": leaked.GetApiKey(), "API_KEY": leaked.GetApiKey(),
		"NEW_KEY_ID": fmt.Sprint(replacement.GetKey().GetId()), "REQUEST_ID": uuid.NewString(),
	}}
	switch {
	case section == "GiftingConsumerBehind", section == "GiftingReaderBlocked":
		s.prepareUnread(t, &st)
	case page == "erase-a-person":
		order, _ := s.Post(t, s.key, "/orders", s.Order(t)).OK(t)["id"].(string)
		s.Post(t, s.key, "/orders/"+order+":cancel", `{"reason": "Not needed."}`).OK(t)
		st.variables["ORDER_ID"] = order
	case page == "off-board-a-tenant":
		st.variables["TENANT"] = uuid.NewString()
		_, err := s.Tenants(t).PutTenant(t.Context(), tenantRequest(st.variables["TENANT"]))
		require.NoError(t, err)
	case section == "GiftingTenantsSetBack":
		st.variables["WEBHOOK_URL"] = url + "/new"
		st.check = func(t *testing.T) {
			require.Equal(t, url+"/new", pgtest.Value[string](t, s.connect(t, "tenants"),
				"SELECT webhook_url FROM api_keys WHERE name = 'Shop' ORDER BY id DESC LIMIT 1"))
		}
	case section == "A seal key":
		s.prepareSealKeys(t, &st)
	}
	return st
}

// prepareUnread lets the commands of events work on a feed that has read nothing of the topic.
func (s operated) prepareUnread(t *testing.T, st *state) {
	t.Helper()
	var partition, end int
	require.NoError(t, s.connect(t, "events").QueryRow(t.Context(),
		"SELECT kafka_partition, next_offset FROM feed_writers ORDER BY next_offset DESC LIMIT 1").Scan(&partition, &end))
	require.Positive(t, end)
	url := pgtest.NewURL(t)
	st.programs = map[identity.Name]map[string]string{identity.Events: {"GIFTING_DATABASE_URL": url}}
	env := maps.Clone(s.Programs[identity.Events])
	maps.Copy(env, st.programs[identity.Events])
	require.NoError(t, programs.Named(identity.Events).Migrate(t.Context(), env))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), `INSERT INTO feed_writers (kafka_partition, next_offset, last_day)
SELECT p, -1, 'epoch' FROM generate_series(0, 11) AS p`)
	require.NoError(t, err)
	skip := fmt.Sprintf("--partition %d --to %d", partition, end)
	st.replace = []string{"--partition 3 --to 41807", skip, "--partition 3 --to 41808", skip}
}

// sealedColumns are columns that the commands re-encrypt, by program.
var sealedColumns = map[identity.Name]string{
	identity.Orders: "SELECT details_sealed FROM orders", identity.PersonalLinks: "SELECT claim_url_sealed FROM links",
	identity.Tenants: "SELECT webhook_secret FROM api_keys",
}

// prepareSealKeys lets the commands run with a new key at the front, as instances do when the page asks for them. Afterwards
// the values move back to the key with which the instances of this test run.
func (s operated) prepareSealKeys(t *testing.T, st *state) {
	t.Helper()
	const next = "next:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	const setting = "GIFTING_SEAL_KEYS"
	st.programs = map[identity.Name]map[string]string{}
	for name := range sealedColumns {
		st.programs[name] = map[string]string{setting: next + "," + s.Programs[name][setting]}
	}
	s.Post(t, s.key, "/personal-links:create-batch", s.Batch(t)).OK(t)
	st.check = func(t *testing.T) {
		for name := range sealedColumns {
			s.requireSealed(t, name, "next")
			st.programs[name][setting] = s.Programs[name][setting] + "," + next
		}
		back := example{
			script: s.functions + "\nprogram orders re-encrypt && program personal-links re-encrypt && program tenants re-encrypt",
		}
		runExamples(t, s.withPrograms(t, st.programs), []example{back})
		for name := range sealedColumns {
			s.requireSealed(t, name, "local")
		}
	}
}

func (s operated) requireSealed(t *testing.T, name identity.Name, key string) {
	t.Helper()
	rows, err := s.connect(t, programs.Named(name).Database).Query(t.Context(), sealedColumns[name])
	require.NoError(t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	require.NotEmpty(t, values)
	for _, value := range values {
		if len(value) > 0 {
			require.Equal(t, key, string(value[1:1+value[0]]), name)
		}
	}
}

// withPrograms returns a folder like the repository's, with changed environments of programs.
func (s operated) withPrograms(t *testing.T, changes map[identity.Name]map[string]string) string {
	t.Helper()
	if len(changes) == 0 {
		return s.dir
	}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".local", "programs"), 0o700))
	for _, folder := range []string{"", ".local"} {
		entries, err := os.ReadDir(filepath.Join(s.dir, folder))
		require.NoError(t, err)
		for _, entry := range entries {
			if name := entry.Name(); name != ".local" && name != "programs" {
				require.NoError(t, os.Symlink(filepath.Join(s.dir, folder, name), filepath.Join(dir, folder, name)))
			}
		}
	}
	for name, env := range s.Programs {
		var text strings.Builder
		env = maps.Clone(env)
		maps.Copy(env, changes[name])
		for variable, value := range env {
			text.WriteString("export " + variable + "='" + value + "'\n")
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".local", "programs", string(name)+".env"), []byte(text.String()), 0o600))
	}
	return dir
}

// runbooks returns the pages of deploy/runbooks.
func runbooks(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../runbooks/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// statement is a block of SQL whose first line names its database.
var statement = regexp.MustCompile("(?s)```sql\\s+-- ([a-z]+)\n(.*?)```")

// testRunbooks runs the SQL of the runbooks in transactions that may not write.
func (s stack) testRunbooks(t *testing.T) {
	ran := 0
	for _, path := range runbooks(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found := statement.FindAllStringSubmatch(string(text), -1)
		require.Len(t, found, strings.Count(string(text), "```sql"), "%s: a statement names no database", path)
		for _, one := range found {
			readOnly := pgx.TxOptions{AccessMode: pgx.ReadOnly}
			require.NoError(t, pgx.BeginTxFunc(t.Context(), s.connect(t, one[1]), readOnly, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), one[2])
				return err
			}), one[2])
			ran++
		}
	}
	require.NotZero(t, ran)
}
