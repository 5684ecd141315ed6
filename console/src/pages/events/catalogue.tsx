import { Head } from '../../ui/head.tsx'

export const EventCatalogue = () => <Head title="EventCatalogue" />
