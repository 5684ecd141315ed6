import { observable } from './observable.ts'

/** What is searched for may be a name, so it stays out of addresses and histories. */
export const searches = { orders: observable(''), users: observable('') }

export const clearSearches = () => {
  for (const search of Object.values(searches)) search.set('')
}
