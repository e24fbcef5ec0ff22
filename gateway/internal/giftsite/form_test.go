package giftsite

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// FuzzForm: every form that is accepted can be sent on, and is shown without breaking out of the page.
func FuzzForm(f *testing.F) {
	for _, body := range []string{
		filled().Encode(), "choice=Colour%3DGrey%26Size%3DM&v:Size=M", "name=%ff%00&city=%F0%9F%98%80", "choice=%25zz&v:=&v:%ff=x",
		"step=send&gift=shirt&name=%22%3E%3Cscript%3E", "&&&==", "a;b=c", strings.Repeat("v:a=b&", 50),
	} {
		f.Add(body)
	}
	site := &Site{}
	var err error
	site.translations, err = readTranslations()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/c/"+token, strings.NewReader(body))
		r.Header.Set("Content-Type", formType)
		read, err := readForm(httptest.NewRecorder(), r)
		if err != nil {
			return
		}
		request := read.request(token)
		_, err = proto.Marshal(request)
		require.NoError(t, err)
		for dimension, value := range request.GetVariations() {
			require.True(t, utf8.ValidString(dimension+value))
		}
		page := openPage()
		for _, gift := range page.GetGifts()[:2] {
			w := httptest.NewRecorder()
			p := site.formView(page, gift, read, site.translations.of("en-US").invalidText(read.InvalidText))
			site.renderErrors(w, http.StatusBadRequest, p.withChoiceErrors(read.Picked))
			require.NotContains(t, w.Body.String(), "<script")
			require.Equal(t, 1, strings.Count(w.Body.String(), "</html>"))
		}
	})
}
