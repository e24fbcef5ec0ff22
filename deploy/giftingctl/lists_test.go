package giftingctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
)

// freeTexts are the lists whose entries may have commas. A new list of texts belongs here, or among those that separated knows.
var freeTexts = map[string]bool{"options": true, "values": true}

// listsOf returns the lists of texts that the command line can set in a message.
func listsOf(of protoreflect.MessageDescriptor, flatten string) (lists []protoreflect.FieldDescriptor) {
	for _, f := range fieldsOf(of, flatten) {
		switch fd := f.descriptor(); {
		case fd.IsList() && fd.Message() != nil:
			lists = append(lists, listsOf(fd.Message(), "")...)
		case fd.IsList():
			lists = append(lists, fd)
		}
	}
	return lists
}

func TestACommaSeparatesNoFreeText(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, c := range calls {
		for _, fd := range listsOf(method(c.method).Input(), c.flatten) {
			found[string(fd.Name())] = true
			require.Equal(t, !freeTexts[string(fd.Name())], commaSeparated(fd), "%s of %s", fd.Name(), c.use)
		}
	}
	require.Subset(t, found, freeTexts)

	services := giftingctltest.Start(t, nil)
	sent := func(args ...string) map[string]any {
		code, out, errs := runLine(t, services.Config, append(args, "--dry-run")...)
		require.Zero(t, code, errs)
		read := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(out), &read))
		return read
	}
	field := sent("fields", "put", "--label", "Occasion", "--type", "dropdown", "--options", "Birthday, 50+", "--options", "Other")
	require.Equal(t, []any{"Birthday, 50+", "Other"}, field["field"].(map[string]any)["options"])
	require.Equal(t, []any{"SE", "NO", "DK"},
		sent("regions", "put", "NORDICS", "--countries", "SE,NO", "--countries", "DK")["countries"])
	product := sent("products", "put", "--name", "Jersey", "--state", "draft", "--variations", "dimension=Size,values=S,values=M")
	require.Equal(t, []any{map[string]any{"dimension": "Size", "values": []any{"S", "M"}}}, product["variations"])
	code, _, errs := runLine(t, services.Config, "products", "put", "--name", "J", "--state", "draft", "--variations",
		"dimension=A,dimension=B", "--dry-run")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, `"dimension" is there twice`)
}

func TestAFileOfJSONIsReadOrSaysWhereItIsWrong(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	path := filepath.Join(t.TempDir(), "region.json")
	put := func(content string) (code int, errs string) {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		code, _, errs = runLine(t, services.Config, "regions", "put", "-f", path)
		return code, errs
	}
	code, errs := put("\ufeff{\"code\": \"NORDICS\"}\r\n")
	require.Zero(t, code, errs)
	for content, says := range map[string]string{
		"{\n  \"code\": ,\n}":              "(line 2:11)",
		"{\"code\": \"NORDICS\"":           "unexpected",
		"\xff\xfe{\x00}\x00":               "is UTF-16: save it as UTF-8",
		"{\"code\": \"A\", \"colour\": 1}": `unknown field "colour"`,
	} {
		code, errs := put(content)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, path)
		require.Contains(t, errs, says)
	}
}
