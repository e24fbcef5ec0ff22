// Loads the index, and ranks its entries for what somebody typed. It uses nothing of a browser, so that a test can run it.

const weights = { title: 8, page: 5, anchor: 4, text: 1 }
const small = new Set(['a', 'an', 'and', 'do', 'for', 'how', 'i', 'in', 'is', 'my', 'of', 'on', 'the', 'to', 'what', 'with'])
// synonyms are words of readers for which the documentation has others.
const synonyms = {
  auth: 'authentication', cli: 'command', dedupe: 'duplicates', gdpr: 'erased', pagination: 'cursor', paging: 'cursor', quota: 'limit',
  throttling: 'limit', token: 'authentication', whitelist: 'allowlist',
}

// wordsOf splits names too: externalOrderId has three words, and so has not_in_campaign.
const wordsOf = (text) => text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

// distance counts letters that are missing, added, different or swapped with the next.
const distance = (a, b) => {
  let before, last = [], row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    [before, last, row] = [last, row, [i]]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1)
    }
  }
  return row[b.length]
}

// likeness of a typed word and a word of the index is 1 if they are equal, less for the beginning of a word and for typing errors,
// and 0 if they differ. The first letter must be right, and short words and numbers have no errors.
const likeness = (typed, word) => {
  if (typed === word) return 1
  if (typed === `${word}s` || word === `${typed}s`) return 0.95
  if (word.startsWith(typed)) return 0.8
  const allowed = /\d/.test(typed) ? 0 : typed.length < 4 ? 0 : typed.length < 8 ? 1 : 2
  if (allowed === 0 || typed[0] !== word[0] || word.length < typed.length - allowed) return 0
  const lengths = [word.length, typed.length, typed.length + 1].filter((length) => length <= word.length)
  const errors = Math.min(...lengths.map((length) => distance(typed, word.slice(0, length))))
  return errors > allowed ? 0 : 0.8 - 0.2 * errors
}

// worth is more for a whole page, whose address has no anchor, and less for what only reports a change.
const worth = (entry) => entry.page === 'Change log' ? 0.7 : entry.href.includes('#') ? 1 : 1.1

// prepare returns the search of an index. It finds entries with the most of the typed words, the best first.
export const prepare = (index) => {
  const known = new Map() // Every word, with the weight that it has in each entry.
  const lengths = index.map((entry) => wordsOf(entry.title).length)
  const add = (word, i, weight) => {
    if (!known.has(word)) known.set(word, new Map())
    const weightOf = known.get(word)
    // A word that a text repeats counts a little more.
    const before = weightOf.get(i) ?? 0
    weightOf.set(i, Math.max(weight, before, Math.min(before + 0.2, 2)))
  }
  index.forEach((entry, i) => {
    const fields = { ...entry, anchor: entry.href.split('#')[1] ?? '' }
    for (const [field, weight] of Object.entries(weights)) {
      const words = wordsOf(fields[field])
      words.forEach((word) => add(word, i, weight))
      // People write "allow list" for "allowlist", and the other way round.
      if (field === 'title') words.slice(1).forEach((word, n) => add(words[n] + word, i, weight))
    }
  })

  return (query) => {
    const all = wordsOf(query).map((word) => synonyms[word] ?? word)
    let typed = all.some((word) => !small.has(word)) ? all.filter((word) => !small.has(word)) : all
    const pair = typed.findIndex((word, n) => known.has(word + typed[n + 1]))
    if (pair >= 0) typed = typed.toSpliced(pair, 2, typed[pair] + typed[pair + 1])
    const phrase = ` ${query.trim().toLowerCase()} `
    const hits = new Map()
    for (const part of typed) {
      const best = new Map()
      for (const [word, weightOf] of known) {
        const like = likeness(part, word)
        if (like === 0) continue
        for (const [i, weight] of weightOf) {
          const points = like * weight * (weight === weights.title ? 1 + 1 / lengths[i] : 1)
          if (points > (best.get(i)?.points ?? 0)) best.set(i, { points, word })
        }
      }
      for (const [i, { points, word }] of best) {
        const hit = hits.get(i) ?? { entry: index[i], points: 0, words: [] }
        hit.points += points
        hit.words.push(word)
        hits.set(i, hit)
      }
    }
    for (const hit of hits.values()) if (all.length > 1 && ` ${hit.entry.text} `.toLowerCase().includes(phrase)) hit.points += weights.page
    for (const hit of hits.values()) hit.points *= worth(hit.entry)
    const found = [...hits.values()].sort((a, b) => b.words.length - a.words.length || b.points - a.points)
    return { found: found.filter((hit) => hit.words.length === found[0].words.length), whole: found[0]?.words.length === typed.length }
  }
}

// loader returns a function that requests the index once, and again only after a failure.
export const loader = (request) => {
  let search
  const load = async () => {
    const response = await request()
    if (!response.ok) throw new Error(`the index of the search: HTTP ${response.status}`)
    return prepare(await response.json())
  }
  return () => (search ??= load().catch((error) => {
    search = undefined
    throw error
  }))
}
