def bubble_sort(items):
    for end in range(len(items), 1, -1):
        for index in range(end - 1):
