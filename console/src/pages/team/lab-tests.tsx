import { Head } from '../../ui/head.tsx'

export const LabTests = () => <Head title="LabTests" />
