// Puts into the samples what belongs to the reader: the key that the console has in this tab, and the choices of the first gift of the
// reader's catalog. Only the sandbox has this script.
const api = new URL('../../', import.meta.url)

const replace = (placeholder, text) => {
  const texts = document.createNodeIterator(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!node.data.includes(placeholder)) continue
    node.data = node.data.replace(placeholder, text)
    return node.parentElement.closest('figure')
  }
}

let key = null
try {
  key = sessionStorage.getItem('gifting-key')
} catch { /* The browser stores nothing, so the console has no key. */ }
const filled = key && replace('gft_sbx_your_key', key)
if (filled) {
  filled.after(Object.assign(document.createElement('p'), { textContent: 'This is the key that the console has in this tab.' }))
  fetch(new URL('catalog/products?country=SE&limit=1', api), { headers: { Authorization: `Bearer ${key}` } })
    .then((response) => response.json())
    .then(({ items: [gift] }) => {
      const choices = Object.fromEntries(gift.variations.map(({ dimension, values: [first] }) => [dimension, first]))
      replace('{"Colour": "Oat"}', JSON.stringify(choices))
    })
    .catch(() => {}) // A key without the scope, or a tenant without gifts: the example stays.
}
