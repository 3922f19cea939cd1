// What the fake Azure sells; names of sizes and locations are Azure's, prices those of its public list, rounded.

export const LOCATIONS: readonly string[] = ['eastus', 'eastus2', 'westus3', 'westeurope', 'northeurope', 'uksouth'];

export interface FakeSize {
  readonly name: string;
  readonly vcpus: number;
  readonly locations: readonly string[];
  readonly price: number;
  readonly spotPrice: number;
  /** x64 where absent. */
  readonly architecture?: 'Arm64';
  /** Generations 1 and 2 of Hyper-V where absent. */
  readonly generations?: string;
}

export const SIZES: readonly FakeSize[] = [
  { name: 'Standard_D2s_v5', vcpus: 2, locations: LOCATIONS, price: 0.115, spotPrice: 0.023 },
  { name: 'Standard_D4s_v5', vcpus: 4, locations: LOCATIONS, price: 0.23, spotPrice: 0.046 },
  {
    ...{ name: 'Standard_D4ps_v5', vcpus: 4, locations: LOCATIONS, price: 0.184, spotPrice: 0.04 },
    ...{ architecture: 'Arm64', generations: 'V2' },
  },
  { name: 'Standard_A2_v2', vcpus: 2, locations: LOCATIONS, price: 0.091, spotPrice: 0.02, generations: 'V1' },
  { name: 'Standard_DS1_v2', vcpus: 1, locations: ['eastus', 'westeurope'], price: 0.073, spotPrice: 0.015 },
  { name: 'Standard_F8s_v2', vcpus: 8, locations: LOCATIONS, price: 0.39, spotPrice: 0.08 },
  { name: 'Standard_NC4as_T4_v3', vcpus: 4, locations: ['eastus', 'westeurope'], price: 0.526, spotPrice: 0.11 },
  { name: 'Standard_NC24ads_A100_v4', vcpus: 24, locations: ['eastus', 'westeurope'], price: 3.673, spotPrice: 0.7 },
  { name: 'Standard_ND96isr_H100_v5', vcpus: 96, locations: ['eastus'], price: 98.32, spotPrice: 24.58 },
];
