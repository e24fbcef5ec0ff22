// Adds to pages what is of use only with a script: buttons to copy code, tabs of languages, and the place in the table of contents.
const chosen = 'gifting.docs.language'

const copyButton = (code) => {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  return button
}

// Browsers have the clipboard on HTTPS and on this machine only.
if (navigator.clipboard) {
  for (const figure of document.querySelectorAll('.code:not(.output)')) figure.querySelector('figcaption').append(copyButton(figure.querySelector('code')))
}

// Blocks that follow each other become tabs. A choice counts for all of them, and for the next pages.
const groups = [...document.querySelectorAll('.tabs')].map((box, number) => {
  const list = document.createElement('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const tabs = [...box.querySelectorAll('.code')].map((figure, i) => {
    const label = figure.querySelector('figcaption').firstChild
    const tab = Object.assign(document.createElement('button'), { type: 'button', id: `tab-${number}-${i}`, textContent: label.textContent })
    const panel = Object.assign(figure.querySelector('pre'), { id: `panel-${number}-${i}` })
    label.remove()
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', panel.id)
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', tab.id)
    return { tab, figure, language: tab.textContent }
  })
  list.append(...tabs.map(({ tab }) => tab))
  box.prepend(list)
  return tabs
})

const show = (tabs, language) => {
  const shown = tabs.find((t) => t.language === language) ?? tabs[0]
  for (const t of tabs) {
    t.figure.hidden = t !== shown
    t.tab.setAttribute('aria-selected', String(t === shown))
    t.tab.tabIndex = t === shown ? 0 : -1
  }
}

// choose keeps the tab at its place in the window, although blocks above it change their heights.
const choose = ({ tab, language }) => {
  const before = tab.getBoundingClientRect().top
  groups.forEach((tabs) => show(tabs, language))
  scrollBy(0, tab.getBoundingClientRect().top - before)
  tab.focus({ preventScroll: true })
  try {
    localStorage.setItem(chosen, language)
  } catch { /* The browser stores nothing. The choice counts for this page. */ }
}

let language
try {
  language = localStorage.getItem(chosen)
} catch { /* As above. */ }
for (const tabs of groups) {
  show(tabs, language)
  tabs.forEach((t, i) => {
    t.tab.addEventListener('click', () => choose(t))
    t.tab.addEventListener('keydown', ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key]
      if (step) choose(tabs[(i + step + tabs.length) % tabs.length])
    })
  })
}

const contents = new Map([...document.querySelectorAll('.toc a')].map((a) => [decodeURIComponent(a.hash.slice(1)), a]))
const seen = new IntersectionObserver((entries) => {
  const entry = entries.find(({ isIntersecting }) => isIntersecting)
  if (!entry) return
  contents.forEach((a) => a.removeAttribute('aria-current'))
  contents.get(entry.target.id).setAttribute('aria-current', 'true')
}, { rootMargin: '-60px 0px -70% 0px' })
for (const id of contents.keys()) seen.observe(document.getElementById(id))
