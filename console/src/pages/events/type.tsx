import { Head } from '../../ui/head.tsx'

export const EventTypePage = () => <Head title="EventTypePage" />
