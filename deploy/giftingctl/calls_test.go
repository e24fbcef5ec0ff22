package giftingctl

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/partnergifting/platform/proto/gen/gifting/events/v1"  // Its services are part of the contract.
	_ "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1" // Its services are part of the contract.
)

// notForPeople are the services that have no commands, and why.
var notForPeople = map[protoreflect.FullName]string{
	"gifting.tenants.v1.DirectoryService":          "the other services read it",
	"gifting.catalog.v1.ImagesService":             "the gateway reads images",
	"gifting.catalog.v1.ImportService":             "catalog import calls it, in batches",
	"gifting.catalog.v1.OrderingService":           "orders calls it",
	"gifting.catalog.v1.SelectionsService":         "personal-links calls it",
	"gifting.catalog.v1.CurrenciesService":         "tenants calls it",
	"gifting.common.v1.IdempotencyRegisterService": "the gateway calls it",
	"gifting.events.v1.FeedEventsService":          "webhook calls it",
	"gifting.events.v1.FeedNoticesService":         "the gateway calls it",
	"gifting.events.v1.FeedRecordsService":         "orders calls it",
	"gifting.orders.v1.ClaimsService":              "personal-links calls it",
	"gifting.personallinks.v1.ClaimRecordsService": "orders calls it",
	"gifting.personallinks.v1.GiftSiteService":     "the gateway calls it, for players",
	"gifting.privacy.v1.PersonalDataService":       "tenants calls it",
	"gifting.privacy.v1.RecordEventsService":       "tenants calls it",
	"gifting.privacy.v1.TenantDataService":         "tenants calls it",
}

// methods are all methods of the contract that are not part of the public plane.
func methods() (found []protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				if strings.HasPrefix(string(service.FullName()), "gifting.") && !proto.HasExtension(m.Options(), annotations.E_Http) {
					found = append(found, m)
				}
			}
		}
		return true
	})
	return found
}

func TestEveryCallOfTheOperationsPlanesHasACommand(t *testing.T) {
	t.Parallel()
	found := methods()
	require.Greater(t, len(found), 60)
	known := map[string]bool{}
	for _, m := range found {
		if notForPeople[m.Parent().FullName()] != "" {
			continue
		}
		full := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
		known[full] = true
		require.True(t, slices.ContainsFunc(calls, func(c call) bool { return c.method == full }), "%s has no row in calls", full)
	}
	for _, c := range calls {
		require.True(t, known[c.method], "%s calls %s, which is not for people", c.use, c.method)
	}
}

func TestEveryRowNamesFieldsOfItsMessages(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, c := range calls {
		t.Run(c.use, func(t *testing.T) {
			require.False(t, used[c.use], "two rows have the same words")
			used[c.use] = true
			require.NotEmpty(t, c.short)
			require.NotEmpty(t, about[strings.Fields(c.use)[0]], "the group has no description")
			response := method(c.method).Output()
			var keys []string
			for _, f := range c.requestFields() {
				keys = append(keys, f.key)
			}
			require.Subset(t, keys, slices.Concat(c.args, c.required, c.omit, slices.Collect(maps.Keys(c.flags))))
			if c.generatedID != "" {
				require.Contains(t, keys, c.generatedID)
			}
			if c.document != "" {
				require.NotNil(t, response.Fields().ByName(protoreflect.Name(c.document)))
			}
			for _, column := range c.columns {
				requireColumn(t, onlyList(response).Message(), strings.Split(column, "."))
			}
		})
	}
}

func requireColumn(t *testing.T, of protoreflect.MessageDescriptor, path []string) {
	t.Helper()
	fd := of.Fields().ByName(protoreflect.Name(path[0]))
	require.NotNil(t, fd, "%s has no %s", of.FullName(), path[0])
	if len(path) > 1 {
		requireColumn(t, fd.Message(), path[1:])
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		t.Run(c.use, func(t *testing.T) {
			var out strings.Builder
			code := Run(t.Context(), append(strings.Fields(c.use), "--help"), Streams{Out: &out, Err: io.Discard})
			require.Zero(t, code)
			require.Contains(t, out.String(), c.short)
			require.Equal(t, !c.readOnly, strings.Contains(out.String(), "--dry-run"), "only what changes something can be tried")
		})
	}
}
