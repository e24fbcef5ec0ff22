//go:build sdk

package console_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// runScript runs a module with Node.js beside the scripts of the console, and returns what it prints.
func runScript(t *testing.T, module string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"api.js", "samples.js"} {
		script, err := os.ReadFile(filepath.Join("assets", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), script, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type": "module"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "run.js"), []byte(module), 0o600))
	command := exec.CommandContext(t.Context(), "node", "run.js")
	command.Dir, command.Stderr = folder, os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	return string(output)
}

func TestASampleLinkFitsTheTenant(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `{"brandId": "b", "productIds": ["g"], "recipients": [{
		"label": "Ann", "message": "Happy birthday!", "locale": "sv-SE", "externalRecipientId": "player-7",
		"customFields": [{"fieldId": "1", "textValue": "S"}, {"fieldId": "2", "checked": true}]
	}]}`, runScript(t, `
		import { link } from "./samples.js";
		const read = async (path) => (path === "/brands" ? [{ id: "b" }] : { items: [{ id: "g", available: true }] });
		const tenant = { locales: ["sv-SE", "de"], customFields: [
			{ id: "1", type: "DROPDOWN", required: true, options: ["S", "M"] },
			{ id: "2", type: "CHECKBOX", required: true, options: [] },
			{ id: "3", type: "TEXT", required: false, options: [] },
		] };
		console.log(JSON.stringify(await link(tenant, "Ann", false, read)));
	`))
}

func TestARecipientThatWasRejectedIsNoSuccess(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `[
		{"says": "done.", "wrong": false},
		{"says": "email appears earlier in the batch", "wrong": true},
		{"says": "the receiver answered 204.", "wrong": false},
		{"says": "no connection", "wrong": true}
	]`, runScript(t, `
		import { outcome } from "./api.js";
		const errors = [{ field: "email", code: "duplicate", message: "appears earlier in the batch" }];
		console.log(JSON.stringify([
			{ results: [{ index: 0, link: {} }] }, { results: [{ index: 0, link: {} }, { index: 1, errors }] },
			{ responseStatus: 204, error: null }, { responseStatus: null, error: "no connection" },
		].map(outcome)));
	`))
}
