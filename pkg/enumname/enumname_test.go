package enumname_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestNamesHaveNoPrefix(t *testing.T) {
	t.Parallel()
	require.Equal(t, "SENT", enumname.String(ordersv1.OrderStatus_ORDER_STATUS_SENT))
	require.Empty(t, enumname.String(ordersv1.OrderStatus_ORDER_STATUS_UNSPECIFIED))
	require.Equal(t, "99", enumname.String(ordersv1.OrderStatus(99)))
	scopes := []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_CATALOG}
	require.Equal(t, []string{"ORDERS", "CATALOG"}, enumname.Strings(scopes))
	require.Equal(t, scopes, enumname.ParseAll[commonv1.Scope]([]string{"ORDERS", "CATALOG"}))
	require.Equal(t, "TENANT_ACCOUNT", enumname.String(commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT))
}

func TestEveryNameIsReadBack(t *testing.T) {
	t.Parallel()
	for number, full := range ordersv1.OrderStatus_name {
		status := ordersv1.OrderStatus(number)
		read, ok := enumname.Parse[ordersv1.OrderStatus](enumname.String(status))
		require.Equal(t, number != 0, ok, full)
		require.Equal(t, status, read)
	}
	for _, unknown := range []string{"", "UNSPECIFIED", "sent", "ORDER_STATUS_SENT", "99"} {
		_, ok := enumname.Parse[ordersv1.OrderStatus](unknown)
		require.False(t, ok, unknown)
	}
}

func TestEveryEnumOfThePlatformHasItsNameInFrontOfItsValues(t *testing.T) {
	t.Parallel()
	seen := 0
	protoregistry.GlobalTypes.RangeEnums(func(e protoreflect.EnumType) bool {
		if desc := e.Descriptor(); desc.FullName().Parent().Parent().Parent() == "gifting" {
			seen++
			for _, name := range enumname.Of(desc).All() {
				require.Nil(t, desc.Values().ByName(protoreflect.Name(name)), "%s has no prefix", name)
			}
		}
		return true
	})
	require.NotZero(t, seen)
}
