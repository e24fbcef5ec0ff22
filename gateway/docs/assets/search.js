// Searches the sections of all pages. The index is small and is loaded when somebody begins to search.
const search = document.querySelector('search')
const limit = 12
let index

const input = Object.assign(document.createElement('input'), { type: 'search', placeholder: 'Search', autocomplete: 'off' })
input.setAttribute('aria-label', 'Search the documentation')
const status = document.createElement('p')
status.setAttribute('role', 'status')
const results = document.createElement('ol')
results.hidden = true
search.append(input, status, results)

const load = () => (index ??= fetch(search.dataset.index).then((response) => response.json()))

// score is 0 if a word is missing. A word in the title counts more than one in the text.
const score = (entry, words) => {
  let sum = 0
  for (const word of words) {
    const title = entry.title.toLowerCase().includes(word)
    if (!title && !`${entry.page} ${entry.text}`.toLowerCase().includes(word)) return 0
    sum += title ? 5 : 1
  }
  return sum
}

// excerpt is the text around the first word, with the word marked.
const excerpt = (text, words) => {
  const small = document.createElement('small')
  const at = words.map((word) => [text.toLowerCase().indexOf(word), word.length]).filter(([start]) => start >= 0).sort(([a], [b]) => a - b)[0]
  const [start, length] = at ?? [0, 0]
  const from = Math.max(0, start - 60)
  const mark = document.createElement('mark')
  mark.textContent = text.slice(start, start + length)
  small.append((from > 0 ? '… ' : '') + text.slice(from, start), mark, text.slice(start + length, start + 120))
  return small
}

const item = (entry, words) => {
  const link = Object.assign(document.createElement('a'), { href: entry.href, textContent: entry.title })
  const li = document.createElement('li')
  li.append(link, ` – ${entry.page}`, excerpt(entry.text, words))
  return li
}

input.addEventListener('focus', load, { once: true })
input.addEventListener('input', async () => {
  const text = input.value
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = words.length === 0 ? [] : (await load())
    .map((entry) => ({ entry, points: score(entry, words) })).filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
  if (input.value !== text) return // Somebody has typed on.
  results.replaceChildren(...found.slice(0, limit).map(({ entry }) => item(entry, words)))
  results.hidden = found.length === 0
  status.textContent = words.length === 0 ? '' : found.length === 0 ? 'Nothing found.' : `${found.length} found`
})
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement === document.body) {
    event.preventDefault()
    input.focus()
  }
})
