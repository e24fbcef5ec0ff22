package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	textField     = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT
	checkboxField = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX
	dropdownField = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN
)

func TestPutCustomField(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	put := func(tenantID string, field *tenantsv1.CustomField, position int32) *tenantsv1.PutCustomFieldRequest {
		return &tenantsv1.PutCustomFieldRequest{
			TenantId: tenantID, Field: field, Position: position,
		}
	}
	last := &tenantsv1.CustomField{Id: newID(), Label: "Cost centre", Type: textField, Required: true}
	first := &tenantsv1.CustomField{Id: newID(), Label: "Tier", Type: dropdownField, Options: []string{"Gold", "Silver"}}
	middle := &tenantsv1.CustomField{Id: newID(), Label: "VIP", Type: checkboxField}
	call(t, f.ops.PutCustomField, put(tenant, last, 30))
	call(t, f.ops.PutCustomField, put(tenant, first, -1))
	call(t, f.ops.PutCustomField, put(tenant, middle, 2))
	t.Run("fields are in display order", func(t *testing.T) {
		listed := f.settings(tenant).GetTenant().GetCustomFields()
		require.Len(t, listed, 3)
		for i, want := range []*tenantsv1.CustomField{first, middle, last} {
			require.Equal(t, want.String(), listed[i].String())
		}
	})
	t.Run("moving a field is a change, repeating it is none", func(t *testing.T) {
		before := f.settings(tenant).GetVersion()
		call(t, f.ops.PutCustomField, put(tenant, last, -5))
		call(t, f.ops.PutCustomField, put(tenant, last, -5))
		after := f.settings(tenant)
		require.Equal(t, before+1, after.GetVersion())
		require.Equal(t, last.GetId(), after.GetTenant().GetCustomFields()[0].GetId())
	})
	t.Run("the type of a field stays", func(t *testing.T) {
		changed := &tenantsv1.CustomField{Id: last.GetId(), Label: "Cost centre", Type: checkboxField}
		invalid(t, f.ops.PutCustomField, put(tenant, changed, 30), "field.type invalid")
	})
	t.Run("another tenant's field is not found", func(t *testing.T) {
		refused(t, problem.NotFound, f.ops.PutCustomField, put(other, first, 1))
	})
	t.Run("a dropdown has options, no other field has", func(t *testing.T) {
		invalid(t, f.ops.PutCustomField, put(tenant, &tenantsv1.CustomField{Id: newID(), Label: "l", Type: dropdownField}, 0),
			"field.options required")
		invalid(t, f.ops.PutCustomField, put(tenant, &tenantsv1.CustomField{Id: newID(), Label: "l", Type: textField, Options: []string{"a"}}, 0),
			"field.options invalid")
		invalid(t, f.ops.PutCustomField, put(tenant, &tenantsv1.CustomField{
			Id: newID(), Label: "l", Type: dropdownField, Options: []string{"a", " ", "a"},
		}, 0), "field.options[1] required", "field.options[2] duplicate")
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutCustomField, put("x", &tenantsv1.CustomField{Type: 7}, 0),
			"tenantId invalid", "field.id invalid", "field.label required", "field.type invalid")
		invalid(t, f.ops.PutCustomField, put(tenant, nil, 0), "field required")
	})
}
