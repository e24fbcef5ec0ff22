package store

import (
	"strings"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// names spells an enum as it stands in a column: the names of the API, without their prefix.
type names[E ~int32] struct {
	prefix string
	name   map[int32]string
	number map[string]int32
}

var (
	scopes     = names[commonv1.Scope]{"SCOPE_", commonv1.Scope_name, commonv1.Scope_value}
	roles      = names[tenantsv1.TeamRole]{"TEAM_ROLE_", tenantsv1.TeamRole_name, tenantsv1.TeamRole_value}
	fieldTypes = names[tenantsv1.CustomFieldType]{
		"CUSTOM_FIELD_TYPE_", tenantsv1.CustomFieldType_name, tenantsv1.CustomFieldType_value,
	}
)

func (n names[E]) column(e E) string { return strings.TrimPrefix(n.name[int32(e)], n.prefix) }

func (n names[E]) value(column string) E { return E(n.number[n.prefix+column]) }

func (n names[E]) columns(list []E) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = n.column(e)
	}
	return out
}

func (n names[E]) values(columns []string) []E {
	out := make([]E, len(columns))
	for i, c := range columns {
		out[i] = n.value(c)
	}
	return out
}
