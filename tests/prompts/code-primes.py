def primes_below(limit):
    sieve = [True] * limit
