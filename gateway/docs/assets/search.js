// The search of the site. The index is small and is loaded when somebody begins to search.
import { loader } from './rank.js'

const search = document.querySelector('search')
const limit = 10

const placeholder = matchMedia('(hover: none)').matches ? 'Search' : 'Search (press /)' // A phone has no key to press.
const input = Object.assign(document.createElement('input'), { type: 'search', placeholder, autocomplete: 'off' })
input.setAttribute('aria-label', 'Search the documentation')
const status = document.createElement('p')
status.setAttribute('role', 'status')
const results = document.createElement('ol')
const box = Object.assign(document.createElement('div'), { className: 'found', hidden: true })
box.append(status, results)
search.append(input, box)

const load = loader(() => fetch(search.dataset.index))

// excerpt is the text around the first of the words, in whole words, with the word marked.
const excerpt = (text, words) => {
  const small = document.createElement('small')
  const at = words.map((word) => [text.toLowerCase().indexOf(word), word.length]).filter(([start]) => start >= 0).sort(([a], [b]) => a - b)[0]
  const [start, length] = at ?? [0, 0]
  const from = start < 50 ? 0 : text.indexOf(' ', start - 50) + 1
  const to = text.length < start + 110 ? text.length : text.lastIndexOf(' ', start + 110)
  const mark = document.createElement('mark')
  mark.textContent = text.slice(start, start + length)
  small.append((from > 0 ? '… ' : '') + text.slice(from, start), mark, text.slice(start + length, to) + (to < text.length ? ' …' : ''))
  return small
}

const item = ({ entry, words }) => {
  const title = Object.assign(document.createElement('strong'), { textContent: entry.title })
  const link = Object.assign(document.createElement('a'), { href: entry.href })
  link.append(title, ` – ${entry.page}`, excerpt(entry.text, words))
  const li = document.createElement('li')
  li.append(link)
  return li
}

input.addEventListener('focus', load, { once: true })
input.addEventListener('input', async () => {
  const text = input.value
  const { found, whole } = (await load())(text)
  if (input.value !== text) return // Somebody has typed on.
  results.replaceChildren(...found.slice(0, limit).map(item))
  box.hidden = text.trim() === ''
  status.textContent = found.length === 0 ? 'Nothing found.' : whole ? `${found.length} found` : 'Nothing has all words. Closest:'
})

// The arrow keys go through the results, Enter opens the first, once the index is there, and Escape closes them.
search.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  if (event.key === 'Escape') {
    box.hidden = true
    input.focus()
  } else if (event.key === 'Enter' && at < 0) {
    load().then(() => results.querySelector('a')?.click())
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    const to = at + (event.key === 'ArrowDown' ? 1 : -1)
    ;(links[to] ?? (to < 0 ? input : links.at(-1)))?.focus()
  }
})
document.addEventListener('click', (event) => {
  if (!search.contains(event.target) || event.target.closest('.found a')) box.hidden = true
})
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement === document.body) {
    event.preventDefault()
    input.focus()
  }
})
