import { observable } from './observable.ts'

/** A search may contain a name, so it stays out of URLs and the browser history. */
export const searches = { orders: observable(''), users: observable('') }

export const clearSearches = () => {
  for (const search of Object.values(searches)) search.set('')
}
